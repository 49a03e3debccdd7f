/* Changes that may fail: what went wrong stands beside what was tried. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../api/client';

export interface Action {
  failure: string;
  /** Whether it went well. */
  run: (change: () => Promise<unknown>) => Promise<boolean>;
}

export function useAction(): Action {
  const [failure, setFailure] = useState('');
  async function run(change: () => Promise<unknown>): Promise<boolean> {
    setFailure('');
    try {
      await change();
      return true;
    } catch (error) {
      setFailure(error instanceof ApiError ? error.message : String(error));
      return false;
    }
  }
  return { failure, run };
}

export function Failure({ action }: { action: Action }): JSX.Element | null {
  if (!action.failure) return null;
  return (
    <p class="problem" role="alert">
      {action.failure}
    </p>
  );
}

interface RemoveProps {
  /** What is removed, for those who do not see the row. */
  what: string;
  onRemove: () => void;
}

/** The second press does it; going elsewhere takes the first one back. */
export function RemoveButton({ what, onRemove }: RemoveProps): JSX.Element {
  const [asked, setAsked] = useState(false);
  return (
    <button
      type="button"
      aria-label={asked ? `Remove ${what}: press again to confirm` : `Remove ${what}`}
      onBlur={() => setAsked(false)}
      onClick={() => (asked ? onRemove() : setAsked(true))}
    >
      {asked ? 'Really remove?' : 'Remove'}
    </button>
  );
}
