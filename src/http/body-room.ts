import { performance } from 'node:perf_hooks';
import { Refusal } from './errors.ts';

/**
 * Request bodies that have begun and not ended, all connections together.
 *
 * Guarantees: they hold at most `limit` bytes beyond `FREE_BYTES` of each, so bodies of usual length are never refused
 * because of long ones that are slow; a body that has not ended in time is refused and what came of it is dropped.
 * Costs nothing for a body that comes in one piece, and one timer for all others together.
 */
export type BodyRoom = {
  /** `refuse` is called at most once, when the body has not ended in time. */
  open(refuse: (refusal: Refusal) => void): BodyPlace;
};

export type BodyPlace = {
  /** Makes room for more. Returns why there is none. */
  grow(bytes: number): Refusal | undefined;
  /** May be called again. */
  close(): void;
};

export const FREE_BYTES = 64 * 1024;

type Opened = { deadline: number; refuse(refusal: Refusal): void };

export const createBodyRoom = ({
  limit,
  timeoutMs,
  observe,
}: {
  limit: number;
  timeoutMs: number;
  observe: (delta: number) => void;
}): BodyRoom & { close(): void } => {
  /** In the order of their deadlines. */
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
