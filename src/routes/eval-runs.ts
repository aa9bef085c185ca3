import { z } from 'zod';
import type { EvalLimits } from '../evals/checks.ts';
import type { Evals } from '../evals/index.ts';
import { planOnline, planRun } from '../evals/plan.ts';
import type { EvalRunFilter } from '../evals/runs.ts';
import { type DescribedAnswer, eventStream } from '../http/described.ts';
import { JSON_TYPE } from '../http/reply.ts';
import { reply, route } from '../http/route.ts';
import { createEventStream } from '../http/sse.ts';
import { isPatchable } from '../registry/agent-patch.ts';
import { AgentSpec } from '../schema/agent.ts';
import { isObject, type JsonObject, withoutNulls } from '../schema/endpoint.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { EvalFrame, EvalRunAnswer, EvalRunList } from '../schema/eval-answers.ts';
import { EvalRun, EvalRunRequest, OnlineEvalRequest } from '../schema/eval-run.ts';
import { Conflict, Invalid, Unavailable } from '../schema/outcome.ts';
import { Cursor, count, Limit } from '../schema/paging.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { EvalRunId } from './parameters.ts';
import type { Rooms } from './rooms.ts';

/** Eval runs: made, listed, compared, followed and cancelled (evals-and-traces.md 6, 8). */

const whole = count.transform(Number);

const aggregate = z
  .enum(['samples'])
  .optional()
  .meta({ description: '`samples`: sums over the samples of each cell too' });

const ListQuery = z.strictObject({
  dataset_id: z.string().optional().meta({ description: 'only runs of this dataset' }),
  since_secs: whole.optional().meta({ description: 'inclusive, of the start' }),
  until_secs: whole.optional().meta({ description: 'exclusive, of the start' }),
  status: z
    .enum(['done', 'running', 'cancelled', 'all'])
    .optional()
    .meta({ description: 'default: those that are done' }),
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
  description: 'The run as it begins.',
  content: { [JSON_TYPE]: EvalRunAnswer },
  headers: { Location: 'Where the run is read.' },
};

/** Fields that nobody can override, and values of another type, are a matter of the body. */
const checkOverrides = (
  given: JsonObject | undefined,
  context: z.RefinementCtx,
  path: PropertyKey[],
): void => {
  if (given === undefined) return;
  for (const field of Object.keys(given)) {
    if (!isPatchable(field)) context.addIssue({ code: 'custom', path, message: `unknown field '${field}'` });
  }
  const said = withoutNulls(given);
  const parsed = AgentSpec.safeParse({ id: 'default', ...(isObject(said) && said) });
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
  description: 'What is played, with which agent and models.',
});
const OnlineBody = OnlineEvalRequest.superRefine(checkAllOverrides).meta({
  id: 'OnlineEvalRequest',
  description: 'What is asked, and which models.',
});

const prefersAsync = (prefer: string | undefined): boolean =>
  prefer?.split(',').some((each) => each.trim().toLowerCase() === 'respond-async') ?? false;

/** What a cursor is bound to. */
const bindingOf = ({ dataset_id, since_secs, until_secs, status }: ListQuery) => ({
  dataset_id,
  since_secs,
  until_secs,
  status,
});

const STATUSES = { all: ['done', 'cancelled', 'running'] } as const;

const filterOf = (query: ListQuery): EvalRunFilter => {
  const { status = 'done', cursor, aggregate: asked, ...filters } = query;
  return {
    ...filters,
    statuses: status === 'all' ? STATUSES.all : [status],
    after: cursor === undefined ? undefined : positionIn(cursor, query),
    aggregates: asked !== undefined,
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

/** There when they are exposed. */
export const evalRunRoutes = ({ evals, settings }: Pick<Rooms, 'evals' | 'settings'>) =>
  evals && settings.AdminApiConfig.expose_eval_routes
    ? [...makingRoutes(evals), ...readingRoutes(evals), ...steeringRoutes(evals)]
    : [];

const admin = { tag: 'evals', scope: 'admin' } as const;

const missing = { 404: ErrorBody };

const ended = async (running: Promise<EvalRun | undefined>): Promise<EvalRun> => {
  const run = await running;
  if (!run) throw new Unavailable('service is shutting down');
  return run;
};

type Limits = { limits: EvalLimits };

const makingRoutes = ({ runs, directory, limits }: Pick<Evals, 'runs' | 'directory'> & Limits) => [
  route.post('/v1/eval/runs', {
    ...admin,
    id: 'startEvalRun',
    headers: ['Prefer'],
    summary:
      'Plays a dataset, scripted or against a matrix of models; answers behind the last cell, or at once when asked to',
    description:
      'At once, with 202 and `Location`, when the body says `async` or the request prefers `respond-async`. A client that goes away before its answer cancels the run.',
    body: RunBody,
    bodyLimit: 'evals',
    responses: { 200: EvalRunAnswer, 202: BEGUN, ...missing },
    async handle({ scope, body, header, hold, onGone }) {
      const isAsync = body.async ?? prefersAsync(header('prefer'));
      const plan = planRun(body, isAsync, limits, directory);
      hold();
      const started = runs.start(scope, plan, true);
      if (isAsync) {
        await started.begun;
        const location = `/v1/eval/runs/${started.id}`;
        return reply(202, { run: runs.get(started.id) }, { location });
      }
      onGone(started.cancel);
      const run = await ended(started.ended);
      const { baseline_run_id: baseline } = body;
      return baseline === undefined ? { run } : { run, diff: runs.compare(run, baseline) };
    },
  }),
  route.post('/v1/eval/online', {
    ...admin,
    id: 'runOnlineEval',
    summary: 'Asks several models the same and answers behind the last',
    description: 'Nothing is taken from a dataset. The answer may take minutes.',
    body: OnlineBody,
    bodyLimit: 'evals',
    responses: { 200: OnlineAnswer, ...missing },
    async handle({ scope, body, hold, onGone }) {
      const plan = planOnline(body, limits, directory);
      hold();
      const persisted = body.persist ?? true;
      const started = runs.start(scope, plan, persisted);
      onGone(started.cancel);
      return { run: await ended(started.ended), persisted };
    },
  }),
];

const readingRoutes = ({ runs }: Pick<Evals, 'runs'>) => [
  route.get('/v1/eval/runs', {
    ...admin,
    id: 'listEvalRuns',
    summary: 'Eval runs without their items, the newest first',
    description: 'Of all datasets, or of one; those that are done unless `status` says otherwise.',
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
    summary: 'An eval run with the items that it has, held against another one when asked to',
    description: 'With `baseline`, `diff` tells what is other than there: 409 while the run has not ended.',
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
    summary: 'What an eval run has so far, then each item as it comes, then the end',
    description: 'A client that goes away only stops listening: the run goes on.',
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
    summary: 'Ends an eval run with the items that it has; one that has ended stays as it is',
    description: 'Answers when the run has ended.',
    params: RunParams,
    responses: { 200: EvalRunAnswer, ...missing },
    async handle({ params, hold }) {
      hold();
      return { run: await runs.cancel(params.id) };
    },
  }),
];
