import { z } from 'zod';
import { isPatchable } from '../configuration/agent-patch.ts';
import type { EvalLimits } from '../evals/checks.ts';
import type { Evals } from '../evals/index.ts';
import { type EvalPlan, planOnline, planRun } from '../evals/plan.ts';
import type { EvalRunFilter } from '../evals/runs.ts';
import { type DescribedAnswer, eventStream } from '../http/described.ts';
import type { Keyed } from '../http/keyed.ts';
import { JSON_TYPE } from '../http/reply.ts';
import { reply, route } from '../http/route.ts';
import { createEventStream } from '../http/sse.ts';
import { AgentSpec } from '../schema/agent.ts';
import { isObject, type JsonObject, withoutNulls } from '../schema/endpoint.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { EvalFrame, EvalRunAnswer, EvalRunList } from '../schema/eval-answers.ts';
import { EvalRun, EvalRunRequest, OnlineEvalRequest } from '../schema/eval-run.ts';
import { Conflict, Invalid, Unavailable } from '../schema/outcome.ts';
import { Cursor, count, Limit } from '../schema/paging.ts';
import { demand, type Principal } from '../schema/principal.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { EvalRunId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';

/** Creates, lists, compares, follows and cancels eval runs (evals-and-traces.md 6, 8). */

const whole = count.transform(Number);

const aggregate = z
  .enum(['samples'])
  .optional()
  .meta({ description: '`samples`: include sums over the samples of each cell' });

const ListQuery = z.strictObject({
  dataset_id: z.string().optional().meta({ description: 'only runs of this dataset' }),
  since_secs: whole.optional().meta({ description: 'start time, inclusive' }),
  until_secs: whole.optional().meta({ description: 'start time, exclusive' }),
  status: z
    .enum(['done', 'running', 'cancelled', 'all'])
    .optional()
    .meta({ description: 'default: runs that are done' }),
  aggregate,
  limit: Limit,
  cursor: Cursor,
});
type ListQuery = z.output<typeof ListQuery>;

const RunQuery = z.strictObject({
  baseline: z.string().optional().meta({ description: 'id of an eval run to compare with' }),
  aggregate,
});

const RunParams = z.object({ id: EvalRunId });

const Position = z.object({ started_at_secs: z.int(), id: z.string() });

const OnlineAnswer = z
  .object({ run: EvalRun, persisted: z.boolean() })
  .meta({ id: 'OnlineEvalAnswer', description: 'The run, and whether it is kept.' });

const BEGUN: DescribedAnswer = {
  description: 'The run at its start.',
  content: { [JSON_TYPE]: EvalRunAnswer },
  headers: { Location: 'Where the run is read.' },
};

/** Reports fields without overrides and values of another type as errors of the body. */
const checkOverrides = (
  given: JsonObject | undefined,
  context: z.RefinementCtx,
  path: PropertyKey[],
): void => {
  if (given === undefined) return;
  for (const field of Object.keys(given)) {
    if (!isPatchable(field)) context.addIssue({ code: 'custom', path, message: `unknown field '${field}'` });
  }
  const patch = withoutNulls(given);
  const parsed = AgentSpec.safeParse({ id: 'default', ...(isObject(patch) && patch) });
  for (const { code, message, path: at } of parsed.error?.issues ?? []) {
    if (code === 'invalid_type') context.addIssue({ code: 'custom', path: [...path, ...at], message });
  }
};

type Overriding = Pick<EvalRunRequest, 'agent_overrides' | 'variants'>;

const checkAllOverrides = (
  { agent_overrides, variants = [] }: Overriding,
  context: z.RefinementCtx,
): void => {
  checkOverrides(agent_overrides, context, ['agent_overrides']);
  for (const [index, variant] of variants.entries()) {
    checkOverrides(variant.agent_overrides, context, ['variants', index, 'agent_overrides']);
  }
};

const RunBody = EvalRunRequest.superRefine(checkAllOverrides).meta({
  id: 'EvalRunRequest',
  description: 'Dataset, agent and models of the run.',
});
const OnlineBody = OnlineEvalRequest.superRefine(checkAllOverrides).meta({
  id: 'OnlineEvalRequest',
  description: 'Prompt and models.',
});

const prefersAsync = (prefer: string | undefined): boolean =>
  prefer?.split(',').some((each) => each.trim().toLowerCase() === 'respond-async') ?? false;

/** The parameters that a cursor is bound to. */
const bindingOf = ({ dataset_id, since_secs, until_secs, status }: ListQuery) => ({
  dataset_id,
  since_secs,
  until_secs,
  status,
});

const STATUSES = { all: ['done', 'cancelled', 'running'] } as const;

const filterOf = (query: ListQuery): EvalRunFilter => {
  const { status = 'done', cursor, aggregate: aggregates, ...filters } = query;
  return {
    ...filters,
    statuses: status === 'all' ? STATUSES.all : [status],
    after: cursor === undefined ? undefined : positionIn(cursor, query),
    aggregates: aggregates !== undefined,
  };
};

const positionIn = (cursor: string, query: ListQuery): EvalRunFilter['after'] => {
  const start = decodeCursor(cursor, {
    prefix: PREFIX,
    kind: 'run',
    filters: bindingOf(query),
    filtered: false,
    position: Position,
  });
  if ('offset' in start) throw new Invalid('cursor must be a valid pagination token');
  return start.position;
};

const PREFIX = 'evr_';

/** The routes exist only if they are exposed. */
export const evalRunRoutes = ({ evals, settings }: Pick<RouteDeps, 'evals' | 'settings'>) =>
  evals && settings.AdminApiConfig.expose_eval_routes
    ? [...makingRoutes(evals), ...readingRoutes(evals), ...steeringRoutes(evals)]
    : [];

const admin = { tag: 'evals', needs: 'evaluate' } as const;

const missing = { 404: ErrorBody };

const ended = async (running: Promise<EvalRun | undefined>): Promise<EvalRun> => {
  const run = await running;
  if (!run) throw new Unavailable('service is shutting down');
  return run;
};

const respondBegun = (run: EvalRun) => reply(202, { run }, { location: `/v1/eval/runs/${run.id}` });

const idOf = ({ id }: EvalRun) => ({ id });

/** The client of a request with a key may repeat it, so the run continues without a client. */
const isExpected = (plan: EvalPlan, keyed: Keyed | undefined): EvalPlan =>
  keyed ? { ...plan, isAwaited: false } : plan;

const compared = (
  runs: Evals['runs'],
  run: EvalRun,
  { baseline_run_id: baseline }: Pick<EvalRunRequest, 'baseline_run_id'>,
) => (baseline === undefined ? { run } : { run, diff: runs.compare(run, baseline) });

/** Evaluating an agent starts it (identity.md 3.4). @throws Forbidden */
const demandAgents = (
  principal: Principal,
  { agent_id, agents = [] }: Pick<EvalRunRequest, 'agent_id' | 'agents'>,
): void => {
  for (const id of agent_id === undefined ? agents : [agent_id, ...agents]) demand(principal, ['invoke', id]);
};

type Limits = { limits: EvalLimits };

const makingRoutes = ({ runs, directory, limits }: Pick<Evals, 'runs' | 'directory'> & Limits) => [
  route.post('/v1/eval/runs', {
    ...admin,
    id: 'startEvalRun',
    headers: ['Prefer'],
    summary: 'Run a dataset, scripted or against a matrix of models',
    description:
      'Responds after the last cell, or at once with 202 and `Location` if the body has `async` or the request prefers `respond-async`. A disconnect before the response cancels the run.',
    body: RunBody,
    bodyLimit: 'evals',
    responses: { 200: EvalRunAnswer, 202: BEGUN, ...missing },
    idempotent: true,
    async again({ body, hold }, { id }) {
      hold();
      return compared(runs, await ended(runs.ended(String(id))), body);
    },
    async handle({ principal, scope, body, header, hold, onGone, keyed }) {
      demandAgents(principal, body);
      const isAsync = body.async ?? prefersAsync(header('prefer'));
      const plan = planRun(body, isAsync, limits, directory);
      hold();
      if (isAsync) {
        const { first, started } = runs.start(scope, plan, true, keyed?.answers(respondBegun));
        await started;
        return respondBegun(first);
      }
      const started = runs.start(scope, isExpected(plan, keyed), true, keyed?.holds(idOf));
      if (!keyed) onGone(started.cancel);
      return compared(runs, await ended(started.ended), body);
    },
  }),
  route.post('/v1/eval/online', {
    ...admin,
    id: 'runOnlineEval',
    summary: 'Send one prompt to several models',
    description: 'Responds after the last model, which may take minutes. No dataset is used.',
    body: OnlineBody,
    bodyLimit: 'evals',
    responses: { 200: OnlineAnswer, ...missing },
    idempotent: true,
    async again({ hold }, { id }) {
      hold();
      return { run: await ended(runs.ended(String(id))), persisted: true };
    },
    async handle({ principal, scope, body, hold, onGone, keyed }) {
      demandAgents(principal, body);
      const plan = planOnline(body, limits, directory);
      hold();
      const persisted = body.persist ?? true;
      const started = runs.start(scope, isExpected(plan, keyed), persisted, keyed?.holds(idOf));
      if (!keyed) onGone(started.cancel);
      return { run: await ended(started.ended), persisted };
    },
  }),
];

const readingRoutes = ({ runs }: Pick<Evals, 'runs'>) => [
  route.get('/v1/eval/runs', {
    ...admin,
    id: 'listEvalRuns',
    summary: 'Eval runs without items, newest first',
    description: 'For all datasets or one; only finished runs unless `status` is set.',
    query: ListQuery,
    responses: { 200: EvalRunList },
    handle({ query }) {
      const page = runs.list(filterOf(query));
      return {
        runs: page.runs,
        ...(page.next && { next_cursor: encodeCursor(PREFIX, page.next, bindingOf(query)) }),
      };
    },
  }),
  route.get('/v1/eval/runs/:id', {
    ...admin,
    id: 'getEvalRun',
    summary: 'An eval run with its items, optionally compared with a baseline',
    description: 'With `baseline`, the response contains a `diff`; 409 while the run has not ended.',
    params: RunParams,
    query: RunQuery,
    responses: { 200: EvalRunAnswer, ...missing, 409: ErrorBody },
    handle({ params, query }) {
      const run = runs.get(params.id);
      const { baseline } = query;
      if (baseline !== undefined && run.status === 'running')
        throw new Conflict(`eval run is not finished: ${params.id}`);
      return {
        run,
        ...(baseline !== undefined && { diff: runs.compare(run, baseline) }),
        ...(query.aggregate && { aggregates: runs.aggregates(run) }),
      };
    },
  }),
];

const steeringRoutes = ({ runs }: Pick<Evals, 'runs'>) => [
  route.get('/v1/eval/runs/:id/stream', {
    ...admin,
    id: 'streamEvalRun',
    summary: 'Stream the items of an eval run and its end',
    description: 'Starts with the current items. A disconnect does not cancel the run.',
    params: RunParams,
    responses: {
      200: eventStream(EvalFrame, 'an event `snapshot`, one `item` for each that is done, and `end`'),
      ...missing,
    },
    handle({ params }) {
      const stream = createEventStream();
      runs.follow(params.id, stream);
      return stream;
    },
  }),
  route.post('/v1/eval/runs/:id/cancel', {
    ...admin,
    id: 'cancelEvalRun',
    summary: 'Cancel an eval run',
    description:
      'The run ends with its current items. Responds when the run has ended; an ended run is not changed.',
    params: RunParams,
    responses: { 200: EvalRunAnswer, ...missing },
    async handle({ params, hold }) {
      hold();
      return { run: await runs.cancel(params.id) };
    },
  }),
];
