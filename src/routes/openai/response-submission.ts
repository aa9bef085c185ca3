import type { Keyed } from '../../http/keyed.ts';
import { type Reply, reply } from '../../http/reply.ts';
import type { ResolvedAgent } from '../../loop/agent.ts';
import { invalidValue, OpenAiError } from '../../protocols/openai/errors.ts';
import { inputItemId } from '../../protocols/openai/ids.ts';
import { type InputEntry, importedFrom, splitInput } from '../../protocols/openai/input.ts';
import { acceptedResource, type Leg } from '../../protocols/openai/open-leg.ts';
import { withOutputText } from '../../protocols/openai/response.ts';
import { runHeaders } from '../../protocols/openai/response-headers.ts';
import type { ResponseRequest } from '../../protocols/openai/response-request.ts';
import { answerAll, waitsOf } from '../../protocols/openai/waits.ts';
import type {
  Accepted as AcceptedRun,
  ImportedMessage,
  Submission,
  ThreadView,
  UserMessage,
} from '../../runtime/index.ts';
import { actorOf } from '../../schema/actor.ts';
import type { Accept } from '../../schema/idempotency.ts';
import type { JsonObject } from '../../schema/json.ts';
import { textOf } from '../../schema/message.ts';
import type { Place } from '../../schema/place.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import type { StoredInput } from '../../schema/stored-response.ts';
import type { Client } from '../protocol-runs.ts';
import type { OpenAiDeps } from './openai-deps.ts';
import { approvalsFor, ordinalOf, outputsFor, unknownRequest } from './response-answers.ts';

/**
 * The submission of a request for a response to its thread (openai-responses.md 5.3, 7.2): the beginning of a run, or the
 * messages and decisions with which a waiting run continues.
 */

export type Context = {
  deps: OpenAiDeps;
  client: Client;
  keyed: Keyed | undefined;
  request: ResponseRequest;
  agent: ResolvedAgent;
  entries: readonly InputEntry[];
};

export type Placement = {
  isNew: boolean;
  history?: readonly ImportedMessage[];
  /** The effect on the thread, for the metrics; undefined for a new one. */
  outcome?: 'continued' | 'forked';
};

type At = { thread: Place; view: ThreadView; placement: Placement; begun: Begun };

/** The leg of an accepted request, and whether it has imported a history. */
export type Begun = { leg: Leg | undefined; isImport: boolean };

/** @throws OpenAiError, Forbidden */
export const submissionFor = (context: Context, at: At): Submission => {
  const { view } = at;
  const run = view.run_id === undefined ? undefined : view.run(view.run_id);
  return run ? continuation(context, at, run) : beginning(context, at);
};

const HOUR_MS = 3_600_000;

const beginning = (context: Context, at: At): Submission => {
  const { deps, client, request, agent, entries } = context;
  const { thread, view, placement } = at;
  deps.access.check(client.principal, thread, 'write');
  const approval = entries.find((entry) => entry.kind === 'approval');
  if (approval) throw unknownRequest(approval);
  const { history, input } = splitInput(entries);
  const isHistory = placement.isNew || history.length > 0;
  if (!placement.isNew) refuseStrayOutputs(entries);
  const run_id = deps.ids.uuid();
  const messages = messagesOf(input, { run_id, leg: 1 });
  const imported = isHistory ? [...(placement.history ?? []), ...importedFrom(history)] : [];
  at.begun.isImport = imported.length > 0;
  if (messages.length === 0 && imported.length === 0 && view.seq === 0)
    throw new OpenAiError(400, "Missing required parameter: 'input'.", {
      param: 'input',
      code: 'missing_required_parameter',
    });
  return {
    ...common(context, at, []),
    ...(imported.length > 0 && { history: imported }),
    ...(request.isStored ? {} : { thread: { expires_at: deps.clock.now() + HOUR_MS } }),
    agent,
    named: true,
    run_id,
    messages,
    decisions: [],
    context: client.context,
  };
};

/** @throws OpenAiError for a result of a call that nothing waits for */
const refuseStrayOutputs = (entries: readonly InputEntry[]): void => {
  const called = new Set(entries.flatMap((entry) => (entry.kind === 'call' ? entry.call_id : [])));
  const stray = entries.find((entry) => entry.kind === 'output' && !called.has(entry.call_id));
  if (stray) throw invalidValue(`${stray.at}.call_id`, 'no open function call has this id');
};

const continuation = (context: Context, at: At, run: RunRecord): Submission => {
  const { deps, client, entries } = context;
  const { thread } = at;
  const { principal } = client;
  const waits = waitsOf(run.waiting, run.activation?.options.frontend_tools);
  const rows = deps.store.responses.ofRun(thread.scope, run);
  const outputs = outputsFor(waits, rows, entries);
  const approvals = approvalsFor(waits, rows, entries);
  const leg = (rows.at(-1)?.leg ?? 0) + 1;
  const given = messagesOf(entries, { run_id: run.run_id, leg });
  const questions = outputs.decisions.length > 0 || approvals.decisions.length > 0 ? [] : waits.questions;
  const answers =
    given.length === 0 ? [] : answerAll(questions, textOf(given.flatMap(({ content }) => content)));
  const decisions = [...outputs.decisions, ...approvals.decisions, ...answers];
  const messages = answers.length > 0 ? [] : given;
  if (decisions.length > 0) deps.access.check(principal, thread, 'decide');
  if (messages.length > 0 || decisions.length === 0) deps.access.check(principal, thread, 'write');
  const mayWrite = deps.access.may(principal, thread, 'write');
  return {
    ...common(context, at, [...outputs.inputs, ...approvals.inputs]),
    agent: deps.resolve(run.agent_id, run.resolution_id),
    named: false,
    into: run.run_id,
    messages,
    decisions: decisions.map((decision) => ({ ...decision, principal, mayWrite, from: client.from })),
    context: client.context,
  };
};

/** Messages have the ids of their items, so that a reference to an item finds its message, also in a fork. */
const messagesOf = (
  entries: readonly InputEntry[],
  { run_id, leg }: { run_id: string; leg: number },
): UserMessage[] =>
  entries.flatMap((entry, index) =>
    entry.kind === 'message'
      ? [
          {
            id: inputItemId({ prefix: 'msg', run_id, ordinal: ordinalOf(leg, index) }),
            role: entry.role,
            content: entry.content,
          },
        ]
      : [],
  );

const common = (
  { deps, client, keyed, request, agent }: Context,
  { thread, view, begun }: At,
  inputs: StoredInput[],
) => {
  const { frontend_tools, overrides, output_schema } = request.parameters;
  const { client_instructions } = deps.settings.openai;
  const instructions = client_instructions === 'append' ? request.instructions : undefined;
  const echo = {
    model: request.model ?? agent.spec.id,
    ...(agent.contextPolicy && { truncation: 'auto' as const }),
    ...request.echo,
  };
  return {
    mode: 'foreground',
    origin: 'user',
    adapter: 'openai',
    by: actorOf(client.principal),
    ...(frontend_tools.length > 0 && { frontend_tools }),
    ...(overrides && { overrides }),
    ...(output_schema && { output_schema }),
    ...(instructions !== undefined && { instructions }),
    ...(request.isLimited && { continue_truncated: false }),
    max_tool_calls: request.echo.max_tool_calls ?? null,
    keyed: keyed && acceptLeg(keyed, { scope: thread.scope, begun, isBackground: request.isBackground }),
    extraWrites(batch, { run }) {
      begun.leg = deps.legs.begin(batch, thread.scope, {
        run,
        isFirst: run.run_id !== view.run_id,
        row: { from_seq: view.seq, echo, inputs, ...(request.encrypted && { encrypted: true }) },
      });
    },
  } as const satisfies Partial<Submission>;
};

/** The leg has begun when its key is stored. A background response is answered at once. */
const acceptLeg = (
  keyed: Keyed,
  { scope, begun, isBackground }: { scope: string; begun: Begun; isBackground: boolean },
): Accept<AcceptedRun> => {
  const created = ({ run_id, thread_id }: AcceptedRun): JsonObject => ({
    scope,
    thread_id,
    run_id,
    leg: begun.leg?.row.leg ?? 1,
  });
  if (isBackground) return keyed.answers(() => begun.leg && acceptedReply(begun.leg), created);
  return keyed.creates(created);
};

/** The response to a background request. */
export const acceptedReply = (leg: Leg): Reply =>
  reply(200, withOutputText(acceptedResource(leg)), runHeaders(leg.row));
