/* A button that copies a text to the clipboard. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

/** The fallback for pages without clipboard access (plain HTTP from another host). */
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
  const [result, setResult] = useState('');
  async function press(): Promise<void> {
    setResult((await copy(text())) ? 'Copied' : 'Copying failed');
    setTimeout(() => setResult(''), 1500);
  }
  return (
    <button type="button" onClick={() => void press()}>
      <span aria-live="polite">{result || label}</span>
    </button>
  );
}
