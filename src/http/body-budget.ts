import { performance } from 'node:perf_hooks';
import { Refusal } from './errors.ts';

/**
 * Limits the memory of incomplete request bodies across all connections.
 *
 * Guarantees: incomplete bodies hold at most `limit` bytes in addition to `FREE_BYTES` each, so slow long bodies never
 * cause the rejection of bodies of usual length. A body that misses its deadline is rejected, and its received part is
 * dropped.
 * Cost: none for a body that arrives in one chunk, and one timer for all other bodies together.
 */
export type BodyBudget = {
  /** Calls `refuse` at most once, when the body misses its deadline. */
  open(refuse: (refusal: Refusal) => void): BodyReservation;
};

export type BodyReservation = {
  /** Reserves memory. Returns a refusal when the limit is reached. */
  grow(bytes: number): Refusal | undefined;
  /** Idempotent. */
  close(): void;
};

export const FREE_BYTES = 64 * 1024;

type Opened = { deadline: number; refuse(refusal: Refusal): void };

export const createBodyBudget = ({
  limit,
  timeoutMs,
  observe,
}: {
  limit: number;
  timeoutMs: number;
  observe: (delta: number) => void;
}): BodyBudget & { close(): void } => {
  /** Ordered by deadline. */
  const open = new Set<Opened>();
  let held = 0;
  let timer: NodeJS.Timeout | undefined;

  const count = (delta: number): void => {
    held += delta;
    observe(delta);
  };

  const expire = (): void => {
    timer = undefined;
    const now = performance.now();
    for (const opened of open) {
      if (opened.deadline > now) {
        timer = setTimeout(expire, Math.ceil(opened.deadline - now)).unref();
        return;
      }
      open.delete(opened);
      opened.refuse(tooSlow(timeoutMs));
    }
  };

  return {
    open(refuse) {
      const opened = { deadline: performance.now() + timeoutMs, refuse };
      let bytes = 0;
      let counted = 0;
      open.add(opened);
      timer ??= setTimeout(expire, timeoutMs).unref();
      return {
        grow(more) {
          bytes += more;
          const beyond = Math.max(0, bytes - FREE_BYTES) - counted;
          if (beyond > 0 && held + beyond > limit) return NO_ROOM;
          counted += beyond;
          if (beyond > 0) count(beyond);
          return undefined;
        },
        close() {
          open.delete(opened);
          if (counted > 0) count(-counted);
          counted = 0;
        },
      };
    },
    close() {
      clearTimeout(timer);
      open.clear();
    },
  };
};

const NO_ROOM = new Refusal(503, 'too many long request bodies are being received; try again', {
  'retry-after': '5',
});

const tooSlow = (ms: number): Refusal =>
  new Refusal(408, `request body has not ended within ${ms} ms (body_timeout_ms)`);
