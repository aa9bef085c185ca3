import { Session } from 'node:inspector/promises';
import { getHeapStatistics } from 'node:v8';

/**
 * Loaded into a measured service with `--import`: responds to messages of the benchmark with profiles and scripts of
 * V8. The service itself is not changed.
 */

export type Question = 'modules' | 'start cpu' | 'stop cpu' | 'start heap' | 'stop heap' | 'heap bytes';

const session = new Session();
session.connect();

const HEAP_SAMPLE_BYTES = 32_768;

/** Includes collected objects: the profile is of allocation, not of the remaining heap. */
const HEAP_OPTIONS = {
  samplingInterval: HEAP_SAMPLE_BYTES,
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
};

const ANSWERS: Record<Question, () => Promise<unknown>> = {
  modules: listModules,
  'start cpu': async () => {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
  },
  'stop cpu': async () => (await session.post('Profiler.stop')).profile,
  'start heap': () => session.post('HeapProfiler.startSampling', HEAP_OPTIONS),
  'heap bytes': async () => {
    await session.post('HeapProfiler.collectGarbage');
    return getHeapStatistics().used_heap_size;
  },
  'stop heap': async () => (await session.post('HeapProfiler.stopSampling')).profile,
};

/** Enabling the debugger reports every script loaded so far. */
async function listModules(): Promise<string[]> {
  const urls: string[] = [];
  session.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url));
  await session.post('Debugger.enable');
  await session.post('Debugger.disable');
  session.removeAllListeners('Debugger.scriptParsed');
  return urls;
}

process.on('message', (question: Question) => {
  ANSWERS[question]().then((answer) => process.send?.(answer ?? null));
});
// Waiting for a message does not keep the service alive.
process.channel?.unref();
