import type { Benchmark } from '../benchmark.ts';
import { startTroupe } from '../servers.ts';
import { measurePosition, measureWrites } from './operations.ts';
import { measureMemory, measureRecords } from './records.ts';
import { measureStreams } from './streams.ts';

/** The budgets of the routes of OpenAI, most of them against the native stream. */
export const openai: Benchmark = {
  name: 'openai',
  title: 'openai: the routes of OpenAI: streams, rows, positions, replays, models, memory',
  rounds: 1,
  async run(context) {
    const server = await startTroupe(context);
    const streams = await measureStreams(context, server).finally(server.process.stop);
    return [
      ...streams,
      ...(await measureWrites(context)),
      await measurePosition(context),
      ...(await measureRecords(context)),
      await measureMemory(context),
    ];
  },
};
