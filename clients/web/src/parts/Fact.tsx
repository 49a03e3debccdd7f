/* A name and its value in a list of facts. */
import type { JSX } from 'preact';

export function Fact(props: {
  name: string;
  mono?: boolean;
  children: preact.ComponentChildren;
}): JSX.Element {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd class={props.mono ? 'mono' : ''}>{props.children}</dd>
    </div>
  );
}
