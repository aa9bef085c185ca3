import { Session } from 'node:inspector/promises';

/**
 * Loaded into a service under measurement with `--import`: answers the messages of the benchmark with what V8 has
 * recorded. The service itself is not changed.
 */

export type Question = 'modules' | 'start cpu' | 'stop cpu' | 'start heap' | 'stop heap';

const session = new Session();
session.connect();

const HEAP_SAMPLE_BYTES = 32_768;

/** Objects that were collected count too: the profile is of allocation, not of what remains. */
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
  'stop heap': async () => (await session.post('HeapProfiler.stopSampling')).profile,
};

/** Enabling the debugger reports every script that was loaded so far. */
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
