import { createAtom } from '@xstate/store';
import { RequestError, statusOf } from '../data/error.ts';
import { redactText } from '../data/redact-text.ts';
import { redact } from '../data/redaction.ts';

/** Short messages about completed actions and errors. */

export type ToastKind = 'success' | 'info' | 'error';

export type Toast = {
  id: number;
  kind: ToastKind;
  text: string;
  times: number;
  /** Request, status and body of a failed request. */
  details?: string | undefined;
  action?: { label: string; run: () => void } | undefined;
};

/** Newest last. */
export const toasts = createAtom<readonly Toast[]>([]);

/** Milliseconds until a toast closes automatically; errors stay. */
export const LIFETIME: Record<ToastKind, number | undefined> = {
  success: 3500,
  info: 4500,
  error: undefined,
};

const MOST_KEPT = 50;

let last = 0;

/** A repeated message replaces the earlier one, and counts both. */
export const toast = (kind: ToastKind, given: string, more: Pick<Toast, 'details' | 'action'> = {}): void => {
  last += 1;
  const text = redactText(given);
  const isSame = (other: Toast): boolean => other.kind === kind && other.text === text;
  const times = 1 + (toasts.get().find(isSame)?.times ?? 0);
  const others = toasts.get().filter((other) => !isSame(other));
  toasts.set([...others, { id: last, kind, text, times, ...more }].slice(-MOST_KEPT));
};

export const dismissToast = (id: number): void => toasts.set(toasts.get().filter((other) => other.id !== id));

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
