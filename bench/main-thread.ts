import type { Browser, CDPSession, Page } from 'playwright-core';

/** CPU time of the main thread of a page, from a trace of the browser, so that other processes do not change it. */

/** Events of a trace, with times in microseconds. `tdur`: CPU time of the thread within the event. */
type TraceEvent = {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  tdur?: number;
  args?: { name?: string };
};

const KINDS = {
  script: [
    'FunctionCall',
    'EvaluateScript',
    'RunMicrotasks',
    'FireAnimationFrame',
    'TimerFire',
    'EventDispatch',
  ],
  style: ['UpdateLayoutTree'],
  layout: ['Layout'],
  paint: ['PrePaint', 'Paint', 'Layerize', 'Commit'],
  garbage: ['MinorGC', 'MajorGC', 'V8.GC_MC_BACKGROUND_MARKING', 'BlinkGC.AtomicPhase'],
} as const;

export type Kind = keyof typeof KINDS;

const KINDS_OF = new Map(
  Object.entries(KINDS).flatMap(([kind, names]) => names.map((name) => [name as string, kind as Kind])),
);

/** CPU milliseconds: of all tasks, of the longest one, and of each kind without other kinds within it. */
export type MainThread = { frames: number; total: number; longest: number } & Record<Kind, number>;

const isMainOf = (events: readonly TraceEvent[]): ((event: TraceEvent) => boolean) => {
  const threads = events.filter(
    ({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain',
  );
  const busy = threads
    .map(({ pid, tid }) => ({
      pid,
      tid,
      count: events.filter((event) => event.pid === pid && event.tid === tid).length,
    }))
    .sort((one, other) => other.count - one.count)[0];
  return ({ pid, tid }) => pid === busy?.pid && tid === busy?.tid;
};

type Open = { end: number; kind: Kind | undefined };

/** @param events of one thread, sorted by their start */
const selfTimes = (events: readonly TraceEvent[]): MainThread => {
  const sums = { frames: 0, total: 0, longest: 0, script: 0, style: 0, layout: 0, paint: 0, garbage: 0 };
  let open: Open[] = [];
  for (const { name, ts, dur = 0, tdur = 0 } of events) {
    open = open.filter(({ end }) => end > ts);
    const ms = tdur / 1000;
    const kind = KINDS_OF.get(name);
    const around = open.findLast((each) => each.kind !== undefined)?.kind;
    if (open.length === 0) {
      sums.total += ms;
      sums.longest = Math.max(sums.longest, ms);
    }
    if (name === 'Commit') sums.frames += 1;
    if (kind !== undefined) sums[kind] += ms;
    if (kind !== undefined && around !== undefined) sums[around] -= ms;
    open.push({ end: ts + dur, kind });
  }
  return sums;
};

const CATEGORIES = [
  'devtools.timeline',
  'disabled-by-default-devtools.timeline',
  'toplevel',
  'v8',
  'blink_gc',
];

/** Traces the page for a time. */
export const traceMainThread = async (
  browser: Browser,
  page: Page,
  wait: () => Promise<unknown>,
): Promise<MainThread> => {
  await browser.startTracing(page, { categories: CATEGORIES });
  await wait();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const isMain = isMainOf(trace.traceEvents);
  return selfTimes(
    trace.traceEvents
      .filter((event) => event.ph === 'X' && isMain(event))
      .sort((one, other) => one.ts - other.ts || (other.dur ?? 0) - (one.dur ?? 0)),
  );
};

/** Bytes of the heap after a garbage collection, and what else a leak would increase. */
export const heapOf = async (
  session: CDPSession,
): Promise<{ bytes: number; nodes: number; listeners: number }> => {
  for (let round = 0; round < 3; round += 1) await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const figure = (name: string): number =>
    metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  return { bytes: figure('JSHeapUsedSize'), nodes: figure('Nodes'), listeners: figure('JSEventListeners') };
};
