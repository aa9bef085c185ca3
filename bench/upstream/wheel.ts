/**
 * Runs many streams at one pace on one timer.
 *
 * Each stream keeps the millisecond of the pace at which it was added, so streams neither drift nor cluster. A late
 * tick runs every missed slot.
 */
export type Wheel = {
  /** @param step is called once per pace until it returns false */
  add(step: () => boolean): void;
};

export function createWheel(pace_ms: number): Wheel {
  const slots = Array.from({ length: pace_ms }, () => new Set<() => boolean>());
  let running = 0;
  let timer: NodeJS.Timeout | undefined;
  let reached = 0;

  const runSlot = (slot: Set<() => boolean>): void => {
    for (const step of slot) {
      if (step()) continue;
      slot.delete(step);
      running -= 1;
    }
  };

  const tick = (): void => {
    const now = Math.floor(performance.now());
    // After a pause of more than one pace, each stream is at most one chunk behind for each pace.
    for (; reached <= now; reached += 1) {
      const slot = slots[reached % pace_ms];
      if (slot && slot.size > 0) runSlot(slot);
    }
    if (running > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    add(step) {
      const now = Math.floor(performance.now());
      if (!timer) {
        reached = now + 1;
        timer = setInterval(tick, 1);
      }
      slots[now % pace_ms]?.add(step);
      running += 1;
    },
  };
}
