import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

/** Where the clipboard is not to be had (plain HTTP from afar): a selection to copy. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

export function CopyButton({ label, text }: { label: string; text: () => string }): JSX.Element {
  const [said, setSaid] = useState('');
  async function press(): Promise<void> {
    setSaid((await copy(text())) ? 'Copied' : 'Not possible here');
    setTimeout(() => setSaid(''), 1500);
  }
  return (
    <button type="button" onClick={() => void press()}>
      <span aria-live="polite">{said || label}</span>
    </button>
  );
}
