import { setTimeout as pause } from 'node:timers/promises';
import { EvalRun } from '../../src/schema/eval-run.ts';
import type { Broken } from './broken.ts';
import { type Client, textIn } from './client.ts';
import type { Ledger } from './ledger.ts';
import { ADMIN } from './process.ts';
import { judged, type Operation } from './world.ts';

/** Accepted evaluation runs complete with each of their cells exactly once (evals-and-traces.md 6). */

const DATASET = 'crash';
const SAMPLES = 3;
const FIXTURES = Array.from({ length: 4 }, (_, index) => ({
  id: `f${index}`,
  user_input: `[cell${index}] talk 3`,
}));

/** Far longer than the cells of all open runs need. */
const DONE_MS = 60_000;

export const evaluate: Operation = async (world) => {
  const { client, ledger } = world;
  const dataset = { id: DATASET, spec: { fixtures: FIXTURES } };
  const made = await client.ask('POST', '/v1/eval/datasets', dataset, ADMIN);
  // Every client creates the dataset, and all but the first receive a conflict.
  if (made?.status !== 201 && made?.status !== 409) return;
  const body = {
    dataset_id: DATASET,
    mode: 'live',
    models: ['planned'],
    agent_id: 'worker',
    samples: SAMPLES,
    async: true,
  };
  const answer = await client.ask('POST', '/v1/eval/runs', body, ADMIN);
  const id = textIn(answer?.body, 'run', 'id');
  if (judged(world, 'eval', answer) === 'acknowledged' && id !== undefined) ledger.evals.add(id);
};

const readRun = async (client: Client, id: string): Promise<EvalRun | string> => {
  const answer = await client.ask('GET', `/v1/eval/runs/${id}`, undefined, ADMIN);
  if (answer?.status !== 200) return `answered ${answer?.status}`;
  return EvalRun.parse(Object(answer.body).run);
};

/** Waits for the end of each accepted evaluation, then counts its cells. */
export const checkEvals = async (broken: Broken, client: Client, { evals }: Ledger): Promise<void> => {
  const deadline = performance.now() + DONE_MS;
  for (const id of evals) {
    let run = await readRun(client, id);
    while (typeof run !== 'string' && run.status !== undefined && performance.now() < deadline) {
      await pause(100);
      run = await readRun(client, id);
    }
    if (typeof run === 'string' || run.status !== undefined) {
      broken.note('lost', `eval run ${id} ${typeof run === 'string' ? run : `is ${run.status}`}`);
      continue;
    }
    const cells = new Set(run.items.map(({ fixture_id, sample_index }) => `${fixture_id} ${sample_index}`));
    broken.same('doubled', `items of eval run ${id}`, run.items.length, FIXTURES.length * SAMPLES);
    broken.same('lost', `cells of eval run ${id}`, cells.size, FIXTURES.length * SAMPLES);
  }
};
