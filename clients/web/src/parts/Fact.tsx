/* One of a document's facts, in a list of definitions. */
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
