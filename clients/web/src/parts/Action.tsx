/* Requests that may fail: the error is shown beside the control that sent the request. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../api/client';

export interface Action {
  failure: string;
  /** True: the change succeeded. */
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
  /** The thing to remove, for screen readers. */
  what: string;
  onRemove: () => void;
}

/** Removes on the second press; the first one is cancelled when the button loses the focus. */
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
