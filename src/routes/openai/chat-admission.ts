import type { Keyed } from '../../http/keyed.ts';
import type { ResolvedAgent } from '../../loop/agent.ts';
import type { PositionOutcome } from '../../observability/metrics/openai-metrics.ts';
import type { ChatRequest } from '../../protocols/openai/chat-decode.ts';
import { invalidValue } from '../../protocols/openai/errors.ts';
import type {
  Accepted as AcceptedRun,
  Attach,
  ImportedMessage,
  Submission,
  ThreadFields,
  ThreadView,
} from '../../runtime/index.ts';
import type { Leg } from '../../schema/activation.ts';
import { actorOf } from '../../schema/actor.ts';
import type { Accept } from '../../schema/idempotency.ts';
import type { ContentBlock } from '../../schema/message.ts';
import type { Place } from '../../schema/place.ts';
import type { Client } from '../protocol-runs.ts';
import type { ChatInput } from './chat-input.ts';
import { acceptReferences } from './file-references.ts';
import type { HangUps } from './hang-ups.ts';
import { newLeg } from './new-leg.ts';
import type { OpenAiDeps } from './openai-deps.ts';

/** Submits the input of a chat completion to a thread, with its reader. */

export type ChatCall = {
  client: Client;
  agent: ResolvedAgent;
  request: ChatRequest;
  /** The chat that a front end names in a header. */
  chat: string | undefined;
  /** The thread that the client names. */
  thread: string | undefined;
  keyed: Keyed | undefined;
};

/** A request that was admitted to a thread: what its reader needs to know. */
export type Admitted = {
  place: Place;
  leg: Leg;
  thread: ThreadView;
  /** Whether the client can return to the thread. */
  isKeyed: boolean;
  resolution_id: string;
  /** Names of the functions of the client. */
  functions: ReadonlySet<string>;
};

/** The reader of an admitted request, and the row of its key. */
export type Joining = { attach: Attach; keyed: Accept<AcceptedRun> | undefined };

export type AttachAdmitted = (admitted: Admitted) => Joining;

export type Accepted = { run_id: string; place: Place };

export type SubmitDeps = Pick<
  OpenAiDeps,
  'acceptFiles' | 'access' | 'clock' | 'fileLink' | 'ids' | 'runtime' | 'settings' | 'store' | 'observe'
> & { hangUps: HangUps };

/** The input of a request, as the thread takes it. */
type Read = {
  input: ChatInput;
  history?: readonly ImportedMessage[];
  isKeyed: boolean;
  /** Fields of the thread. */
  fields?: ThreadFields;
  /** The thread no longer expires. */
  keeps?: boolean;
  chat?: NonNullable<Leg['chat']>;
};

export type Admission = {
  place: Place;
  attach: AttachAdmitted;
  outcome: PositionOutcome;
  /** Undefined if the request does not fit the thread. */
  read(thread: ThreadView): Read | undefined;
};

/** Returns undefined if the request does not fit the thread. @throws OpenAiError, and the errors of a submission */
export const admit = async (
  deps: SubmitDeps,
  call: ChatCall,
  { place, attach, outcome, read }: Admission,
): Promise<Accepted | undefined> => {
  const { runtime, observe } = deps;
  const accepted = await runtime.admit(place.scope, place.id, (thread) => {
    const found = read(thread);
    return found && submissionOf(deps, call, { place, thread, found: withFiles(deps, call, found), attach });
  });
  if (accepted) observe.positioned('chat_completions', outcome);
  return accepted && { run_id: accepted.run_id, place };
};

const withFiles = (deps: SubmitDeps, call: ChatCall, found: Read): Read => ({
  ...found,
  input: { ...found.input, messages: acceptAll(deps, call, found.input.messages) },
  ...(found.history && { history: acceptAll(deps, call, found.history) }),
});

/** Accepts references to files, those of an imported history included. @throws OpenAiError */
export const acceptAll = <Message extends Pick<ImportedMessage, 'content'>>(
  deps: SubmitDeps,
  { client, request: { references } }: ChatCall,
  messages: readonly Message[],
): readonly Message[] => {
  if (references.size === 0) return messages;
  const pathOf = (block: ContentBlock): string | undefined => references.get(block);
  return messages.map((message) => ({
    ...message,
    content: acceptReferences(deps, client.principal, message.content, pathOf),
  }));
};

const submissionOf = (
  { access, settings }: SubmitDeps,
  { client, agent, request, keyed }: ChatCall,
  { place, thread, found, attach }: { place: Place; thread: ThreadView; found: Read; attach: AttachAdmitted },
): Submission => {
  const { principal, context, from } = client;
  const { input, history = [], isKeyed, fields, keeps } = found;
  const { messages, decisions, decides, continued } = input;
  access.check(principal, place, 'write');
  if (decides) access.check(principal, place, 'decide');
  const isEmpty = messages.length === 0 && decisions.length === 0 && history.length === 0;
  if (isEmpty && thread.seq === 0) throw invalidValue('messages', 'must contain a message of the user');
  const before = continued?.activation?.options;
  const leg = newLeg(thread, found, keyed !== undefined);
  const { overrides, frontend_tools, output_schema } = request.parameters;
  const tools = frontend_tools.length > 0 ? frontend_tools : before?.frontend_tools;
  const instructions = settings.openai.client_instructions === 'append' ? request.instructions : undefined;
  return {
    mode: 'foreground',
    agent,
    named: decisions.length === 0,
    ...(decisions.length > 0 && continued && { into: continued.run_id }),
    messages,
    decisions: decisions.map((decision) => ({ ...decision, principal, mayWrite: true, from })),
    ...(history.length > 0 && { history }),
    thread: keeps ? { ...fields, expires_at: null } : fields,
    origin: 'user',
    adapter: 'openai',
    context,
    by: actorOf(principal),
    overrides,
    frontend_tools: frontend_tools.length > 0 ? frontend_tools : undefined,
    output_schema,
    instructions,
    continue_truncated: request.isLimited ? false : undefined,
    leg,
    request_echo: request.echo,
    ...attach({
      place,
      leg,
      thread,
      isKeyed,
      resolution_id: continued?.resolution_id ?? agent.resolution_id,
      functions: new Set(tools?.map(({ id }) => id)),
    }),
  };
};
