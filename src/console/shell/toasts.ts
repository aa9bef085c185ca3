import { createAtom } from '@xstate/store';
import { RequestError, statusOf } from '../data/error.ts';
import { redactText } from '../data/redact-text.ts';
import { redact } from '../data/redaction.ts';

/** Short words on what has just happened. */

export type ToastKind = 'success' | 'info' | 'error';

export type Toast = {
  id: number;
  kind: ToastKind;
  text: string;
  /** Status and body of what was refused. */
  details?: string | undefined;
  action?: { label: string; run: () => void } | undefined;
};

/** The newest last. */
export const toasts = createAtom<readonly Toast[]>([]);

/** Milliseconds until one goes by itself; an error stays. */
export const LIFETIME: Record<ToastKind, number | undefined> = {
  success: 3500,
  info: 4500,
  error: undefined,
};

/** Nobody reads more. */
const MOST_KEPT = 50;

let last = 0;

export const toast = (kind: ToastKind, text: string, more: Pick<Toast, 'details' | 'action'> = {}): void => {
  last += 1;
  toasts.set([...toasts.get(), { id: last, kind, text: redactText(text), ...more }].slice(-MOST_KEPT));
};

export const dismissToast = (id: number): void => toasts.set(toasts.get().filter((other) => other.id !== id));

/** What went wrong, with what the service said of it. */
export const toastError = (error: unknown): void => {
  const text = error instanceof Error ? error.message : String(error);
  const body =
    error instanceof RequestError && error.failure.kind === 'http' ? error.failure.body : undefined;
  const lines = [
    error instanceof RequestError ? error.request : undefined,
    statusOf(error) && `HTTP ${statusOf(error)}`,
    body !== undefined && JSON.stringify(redact(body), null, 2),
  ].filter(Boolean);
  toast('error', text, lines.length > 0 ? { details: lines.join('\n') } : {});
};
