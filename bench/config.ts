import { writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import type { Benchmark, Context } from './benchmark.ts';
import { BenchError } from './error.ts';
import { interleaved, median, percentile } from './rounds.ts';
import type { Aim, Measured } from './row.ts';
import { ADMIN_TOKEN, readFrames, type Server, startTroupe, stopAll } from './servers.ts';

/**
 * Costs of a large configuration: the same requests and writes on a service with many agents and tools and on one with
 * few, and a run during configuration writes compared with the same run without them.
 */

const FEW = 5;

const planOf = ({ short }: Context) =>
  short ? { many: 20, repeats: 1, requests: 5, runs: 2 } : { many: 500, repeats: 3, requests: 100, runs: 20 };

const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };

/** Writes a module with this number of tools, as an embedding program would have it. */
const toolsModule = (context: Context, tools: number): string => {
  const file = join(context.folder(), 'troupe.config.mjs');
  const schema = { type: 'object', properties: { text: { type: 'string' } } };
  const descriptor = { name: 'Tool', description: 'Does nothing.', parameters: schema, category: null };
  writeFileSync(
    file,
    `export default {
  tools: Array.from({ length: ${tools} }, (_, index) => ({
    descriptor: { ...${JSON.stringify(descriptor)}, id: \`tool_\${index}\` },
    idempotent: true,
    exclusive: false,
    checksOwnArguments: false,
    execute: async () => ({ data: null }),
  })),
};
`,
  );
  return file;
};

const agentOf = (id: string, prompt: string) => ({ id, model_id: 'default', system_prompt: prompt });

const write = async ({ url }: Server, id: string, prompt: string): Promise<void> => {
  const body = JSON.stringify(agentOf(id, prompt));
  const answer = await fetch(`${url}/v1/config/agents/${id}`, { method: 'PUT', headers, body });
  if (!answer.ok)
    throw new BenchError(`PUT of agent ${id} answered ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
};

const startWith = async (context: Context, size: number): Promise<Server> => {
  const server = await startTroupe(context, { flags: ['--config', toolsModule(context, size)] });
  for (let index = 0; index < size; index += 1) await write(server, `agent-${index}`, 'Be brief.');
  return server;
};

const timed = async (act: () => Promise<void>): Promise<number> => {
  const began = performance.now();
  await act();
  return performance.now() - began;
};

/** Avoids `fetch`, whose garbage would be measured too. */
const capabilitiesMs = ({ url }: Server, agent: Agent): Promise<number> =>
  timed(
    () =>
      new Promise((resolve, reject) => {
        get(`${url}/v1/capabilities`, { agent, headers }, (answer) => {
          answer.resume().on('end', () => {
            if (answer.statusCode === 200) resolve();
            else reject(new BenchError(`/v1/capabilities answered ${answer.statusCode}`));
          });
        }).on('error', reject);
      }),
  );

let writes = 0;
const writeMs = (server: Server): Promise<number> => {
  writes += 1;
  return timed(() => write(server, 'agent-0', `Prompt ${writes}.`));
};

const repeat = async (times: number, measure: () => Promise<number>): Promise<number[]> => {
  const values: number[] = [];
  for (let time = 0; time < times; time += 1) values.push(await measure());
  return values;
};

type Rounds = readonly number[][];

const row = (metric: string, baseline: string, mine: Rounds, theirs: Rounds, aim?: Aim): Measured => ({
  metric,
  unit: 'ms',
  baseline,
  ...(aim && { aim }),
  rounds: [
    {
      value: median(mine.flat()),
      baseline: median(theirs.flat()),
      p50: median(mine.flat()),
      p99: percentile(mine.flat(), 99),
    },
  ],
});

const runMs = (server: Server): Promise<number> =>
  timed(async () => {
    const messages = [{ role: 'user', content: 'Go.' }];
    await readFrames(server, JSON.stringify({ agentId: 'bench', messages }));
  });

/** Measures while writes follow each other without a pause. */
const besideWrites = async (server: Server, measure: () => Promise<number[]>): Promise<number[]> => {
  let over = false;
  const writing = (async () => {
    while (!over) await writeMs(server);
  })();
  try {
    return await measure();
  } finally {
    over = true;
    await writing;
  }
};

export const config: Benchmark = {
  name: 'config',
  title: `config: a service with many agents and tools, compared with one with ${FEW} of each`,
  async run(context) {
    const { many: size, repeats, requests, runs } = planOf(context);
    const [many, few] = [await startWith(context, size), await startWith(context, FEW)];
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (server: Server): Promise<number> => capabilitiesMs(server, agent);
    const afterWrite = async (server: Server): Promise<number> => {
      await writeMs(server);
      return ask(server);
    };
    const compare = (measure: (server: Server) => Promise<number>) =>
      interleaved(repeats, {
        many: () => repeat(requests, () => measure(many)),
        few: () => repeat(requests, () => measure(few)),
      });
    try {
      for (const server of [many, few]) await repeat(requests, () => afterWrite(server));
      const asked = await compare(ask);
      const fresh = await compare(afterWrite);
      const written = await compare(writeMs);
      const ran = await interleaved(repeats, {
        busy: () => besideWrites(many, () => repeat(runs, () => runMs(many))),
        calm: () => repeat(runs, () => runMs(many)),
      });
      const of = `${size} agents and ${size} tools`;
      const fewOf = `${FEW} of each`;
      const aim = { of: 'p99', most: 10 } as const;
      return [
        row(`GET /v1/capabilities, ${of}`, fewOf, asked.many, asked.few, aim),
        row(`the first one after a write, ${of}`, fewOf, fresh.many, fresh.few, aim),
        row(`PUT of an agent, ${of}`, fewOf, written.many, written.few),
        row('a run of 200 tokens during continuous writes', 'alone', ran.busy, ran.calm),
      ];
    } finally {
      await stopAll([many, few]);
      agent.destroy();
    }
  },
};
