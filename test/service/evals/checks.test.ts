import t from 'tap';
import { responds, startEvals } from './evals.ts';

/** Rejected requests, in the order of evals-and-traces.md 6.1 and 8: checks 33 to 35, 49, 50. */

const live = { mode: 'live', models: ['m1'] };

/** Each row fails its own check, and as many of the later checks as possible. */
const ROWS: readonly [what: string, body: object, status: number, text: string][] = [
  [
    'scripted with models',
    { mode: 'scripted', models: [], max_walltime_secs: 0 },
    400,
    '`models` is only valid with mode="live"',
  ],
  ['no models at all', { models: [], samples: 0 }, 400, 'non-empty'],
  ['a model twice', { models: ['m1', 'm1'], samples: 0 }, 400, 'duplicate model'],
  ['live without models', { mode: 'live', max_walltime_secs: 0 }, 400, 'mode="live" requires'],
  [
    'a wall time for a script',
    { max_walltime_secs: 0, max_total_tokens: 1 },
    400,
    'max_walltime_secs requires mode="live"',
  ],
  [
    'tokens for a script',
    { max_total_tokens: 1, agent_id: 'x' },
    400,
    'max_total_tokens requires mode="live"',
  ],
  ['no wall time', { ...live, max_walltime_secs: 0, samples: 0 }, 400, 'max_walltime_secs'],
  ['an agent for a script', { agent_id: 'x', agent_overrides: {} }, 400, 'agent_id requires mode="live"'],
  ['agents for a script', { agents: ['x'], agent_overrides: {} }, 400, 'agents requires mode="live"'],
  [
    'overrides for a script',
    { agent_overrides: {}, samples: 0 },
    400,
    'agent_overrides requires mode="live"',
  ],
  ['variants for a script', { variants: [{ id: 'v' }], samples: 0 }, 400, 'variants requires mode="live"'],
  ['tools for a script', { tools: 'recorded', samples: 0 }, 400, 'tools requires mode="live"'],
  ['one agent and several', { ...live, agents: ['x'], agent_id: 'x', samples: 0 }, 400, 'exclude each other'],
  [
    'overrides and variants',
    { ...live, agent_overrides: {}, variants: [], samples: 0 },
    400,
    'exclude each other',
  ],
  ['a variant twice', { ...live, variants: [{ id: 'v' }, { id: 'v' }] }, 400, "duplicate variant 'v'"],
  ['no samples', { ...live, samples: 0, judge: { model_id: 'x', revise_max_retries: 50 } }, 400, 'samples'],
  ['samples of a script', { samples: 1, judge: { model_id: 'x' } }, 400, 'deterministic'],
  ['samples of a script, by its words', { samples: 2 }, 400, 'samples requires mode="live"'],
  [
    'too many samples',
    { ...live, samples: 50, judge: { model_id: 'x', revise_max_retries: 50 } },
    400,
    'samples=50 exceeds cap',
  ],
  [
    'a judge for a script',
    { judge: { model_id: 'x', revise_max_retries: 50 } },
    400,
    'judge requires mode="live"',
  ],
  [
    'too many revisions',
    { ...live, judge: { model_id: 'x', revise_max_retries: 50 }, dataset_id: 'none' },
    400,
    'revise_max_retries=50',
  ],
  ['no such dataset', { dataset_id: 'none', baseline_run_id: 'none' }, 404, 'dataset not found: none'],
  [
    'no such baseline',
    { dataset_id: 'empty', baseline_run_id: 'none' },
    404,
    'baseline eval run not found: none',
  ],
  [
    'nothing to replay',
    { dataset_id: 'empty', ...live, judge: { model_id: 'x' } },
    400,
    'no fixtures to replay',
  ],
  ['a judged fixture in a script', { dataset_id: 'judged' }, 400, 'mode="live"'],
  ['no judge', { dataset_id: 'judged', models: ['x'] }, 400, 'provide `judge`'],
  [
    'a judge without a rubric',
    { dataset_id: 'judged', models: ['x'], judge: { model_id: 'x' } },
    400,
    'judge.rubric',
  ],
  [
    'a blank rubric',
    { dataset_id: 'judged', models: ['x'], judge: { model_id: 'x', rubric: ' ' } },
    400,
    'judge.rubric',
  ],
  [
    'too many units',
    { dataset_id: 'fifty', models: ['x', 'y', 'z'], agent_id: 'x' },
    400,
    'expands to 150 units',
  ],
  ['too many samples of units', { dataset_id: 'half', models: ['x', 'y'], samples: 3 }, 400, '150 units'],
  [
    'too many agents and variants',
    {
      dataset_id: 'half',
      models: ['x'],
      agents: ['x', 'y'],
      variants: [{ id: 'v' }, { id: 'w' }, { id: 'u' }],
    },
    400,
    '150 units',
  ],
  [
    'no such judge',
    { models: ['x'], agent_id: 'x', judge: { model_id: 'nobody' } },
    404,
    'model not found: models/nobody',
  ],
  ['no such agent', { models: ['x'], agent_id: 'nobody' }, 404, 'agent not found: agents/nobody'],
  [
    'no such agent among several',
    { models: ['x'], agents: ['echo', 'nobody'] },
    404,
    'agent not found: agents/nobody',
  ],
  ['no such model', { models: ['m1', 'nobody'] }, 404, 'model not found: models/nobody'],
];

t.test('reports the first failed check, stores nothing and calls no model', async (t) => {
  const { ask, dataset, asked, list } = await startEvals(t);
  const fixture = (id: string, more: object = {}) => ({
    id,
    user_input: 'Hello',
    provider_script: [responds('hi')],
    ...more,
  });
  const many = (count: number) => Array.from({ length: count }, (_, index) => fixture(`f${index}`));
  await dataset('D', [fixture('f')]);
  await dataset('judged', [fixture('f', { expect: { min_judge_score: 0.5 } })]);
  await dataset('empty', []);
  await dataset('fifty', many(50));
  await dataset('half', many(25));
  for (const [what, body, status, text] of ROWS) {
    const answer = await ask('POST', '/v1/eval/runs', { dataset_id: 'D', ...body });
    t.match({ status: answer.status, error: answer.body.error }, { status }, what);
    t.ok(String(answer.body.error).includes(text), `${what}: ${answer.body.error}`);
  }
  t.strictSame(await list('?status=all'), []);
  t.strictSame(asked, []);
});

t.test('rejects an invalid body before the checks', async (t) => {
  const { ask, call, dataset } = await startEvals(t);
  await dataset('D', [{ id: 'f', user_input: 'Hello' }]);
  const refused: [body: unknown, status: number][] = [
    [{}, 422],
    [{ dataset_id: 'D', unknown: 1 }, 422],
    [{ dataset_id: 'D', samples: 1.5 }, 422],
    [{ dataset_id: 'D', samples: -1 }, 422],
    [{ dataset_id: 'D', mode: 'other' }, 422],
    [{ dataset_id: 'D', models: ['m1'], judge: { model_id: 'm1', unknown: 1 } }, 422],
    [{ dataset_id: 'D', models: ['m1'], agent_overrides: { unknown: 1 } }, 422],
    [{ dataset_id: 'D', models: ['m1'], agent_overrides: { max_rounds: 'many' } }, 422],
    [{ dataset_id: 'D', models: ['m1'], variants: [{ id: 'v', agent_overrides: { unknown: 1 } }] }, 422],
    ['{', 400],
  ];
  for (const [body, status] of refused) {
    t.equal((await ask('POST', '/v1/eval/runs', body)).status, status, JSON.stringify(body));
  }
  t.equal((await call('POST', '/v1/eval/runs', '{')).status, 401);
  const nulls = {
    dataset_id: 'D',
    mode: null,
    models: null,
    judge: null,
    baseline_run_id: null,
    async: null,
  };
  t.equal((await ask('POST', '/v1/eval/runs', nulls)).status, 200);
});

t.test('reports the first failed check of an online eval', async (t) => {
  const { ask, asked, list } = await startEvals(t);
  const judged = { expectations: { min_judge_score: 0.5 } };
  const rows: [body: object, status: number, text: string][] = [
    [{ models: [], samples: 0 }, 400, 'models'],
    [{ models: ['m1', 'm1'], max_walltime_secs: 0 }, 400, 'duplicate model'],
    [{ max_walltime_secs: 0, samples: 0 }, 400, 'max_walltime_secs'],
    [{ samples: 0 }, 400, 'samples'],
    [{ samples: 50 }, 400, 'samples=50'],
    [{ models: Array.from({ length: 11 }, (_, index) => `x${index}`) }, 400, 'exceed sync online cap'],
    [{ models: ['w', 'x', 'y', 'z'], samples: 3, expectations: { min_judge_score: 2 } }, 400, '12 units'],
    [{ expectations: { min_judge_score: 2 } }, 400, '[0.0, 1.0]'],
    [judged, 400, 'provide `judge`'],
    [{ ...judged, judge: { model_id: 'x', revise_max_retries: 50 } }, 400, 'judge.rubric'],
    [{ judge: { model_id: 'x', revise_max_retries: 50 }, agent_id: 'nobody' }, 400, 'revise_max_retries=50'],
    [{ agent_id: 'nobody', models: ['x'] }, 404, 'agent not found: agents/nobody'],
    [{ models: ['nobody'], judge: { model_id: 'x' } }, 404, 'model not found: models/nobody'],
    [{ judge: { model_id: 'nobody' } }, 404, 'model not found: models/nobody'],
  ];
  for (const [body, status, text] of rows) {
    const answer = await ask('POST', '/v1/eval/online', { user_input: 'Hello', models: ['m1'], ...body });
    t.equal(answer.status, status, text);
    t.ok(String(answer.body.error).includes(text), `${text}: ${answer.body.error}`);
  }
  t.equal(
    (await ask('POST', '/v1/eval/online', { user_input: 'x', models: ['m1'], unknown: 1 })).status,
    422,
  );
  t.strictSame(await list('?status=all'), []);
  t.strictSame(asked, []);
});
