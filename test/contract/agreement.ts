import type {
  ActorFrame,
  ActorList,
  AgentStats,
  AuditEvent,
  AuditPage,
  CanonicalEvent,
  Client,
  ConfigDiagnostics,
  ConfigEntryMeta,
  EvalFrame,
  EvalRun,
  EvalRunAnswer,
  EvalRunList,
  EvalRunSummary,
  ListedMessage,
  LiveActor,
  Run,
  RunEvent,
  RunRequest,
  RunSummary,
  SystemInfo,
  Termination,
  Thread,
  ThreadSummary,
  TraceSummary,
} from '../../src/client/index.ts';
import type { Json } from '../../src/schema/json.ts';

/**
 * Types of `troupe/client` beside those that a generator makes of the OpenAPI document. They come from the same
 * schemas by two ways, and a client that drifts from the document is one that does not compile here.
 */

/** Any JSON has a name in the client, and none in what is generated. */
type AnyJson = { readonly anyJson: unique symbol };

/** What a type means, whatever it is made of: intersections are one object, lists are lists, any JSON is the same. */
type Plain<T> = unknown extends T
  ? AnyJson
  : [Json] extends [T]
    ? AnyJson
    : T extends readonly (infer Item)[]
      ? Plain<Item>[]
      : T extends object
        ? { [Key in keyof T]: Plain<T[Key]> }
        : T;

type Same<A, B> = [Plain<A>] extends [Plain<B>]
  ? [Plain<B>] extends [Plain<A>]
    ? [KeysOf<Plain<A>>] extends [KeysOf<Plain<B>>]
      ? [KeysOf<Plain<B>>] extends [KeysOf<Plain<A>>]
        ? true
        : false
      : false
    : false
  : false;

/** Of every form: a field that is optional and that the other does not have is assignable, and drift all the same. */
type KeysOf<T> = T extends readonly (infer Item)[]
  ? KeysOf<Item>
  : T extends object
    ? { [Key in keyof T]-?: [Key, KeysOf<Exclude<T[Key], undefined>>] }[keyof T]
    : never;

type Records<Schemas> = {
  [Name in keyof ClientRecords]: Name extends keyof Schemas
    ? Same<ClientRecords[Name], Schemas[Name]>
    : false;
};

type ClientRecords = {
  Thread: Thread;
  ThreadSummary: ThreadSummary;
  ListedMessage: ListedMessage;
  Run: Run;
  Termination: Termination;
  RunEvent: RunEvent;
  CanonicalEvent: CanonicalEvent;
  LiveActor: LiveActor;
  ActorList: ActorList;
  ActorFrame: ActorFrame;
  AgentStats: AgentStats;
  AuditEvent: AuditEvent;
  AuditPage: AuditPage;
  ConfigDiagnostics: ConfigDiagnostics;
  ConfigEntryMeta: ConfigEntryMeta;
  EvalFrame: EvalFrame;
  EvalRun: EvalRun;
  EvalRunAnswer: EvalRunAnswer;
  EvalRunList: EvalRunList;
  EvalRunSummary: EvalRunSummary;
  RunSummary: RunSummary;
  SystemInfo: SystemInfo;
  TraceSummary: TraceSummary;
};

/** What an operation answers when all is well. */
type AnswerOf<Operation> = Operation extends { responses: infer Responses }
  ? { [Status in keyof Responses & (200 | 201 | 202)]: JsonOf<Responses[Status]> }[keyof Responses &
      (200 | 201 | 202)]
  : never;

type JsonOf<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never;

type BodyOf<Operation> = Operation extends { requestBody: { content: { 'application/json': infer Body } } }
  ? Body
  : never;

type Answers<Operations> = {
  [Name in keyof ClientAnswers]: Name extends keyof Operations
    ? Same<ClientAnswers[Name], AnswerOf<Operations[Name]>>
    : false;
};

type Threads = Client['threads'];
type Runs = Client['runs'];
type Told<Method extends (...given: never[]) => unknown> = Awaited<ReturnType<Method>>;

type ClientAnswers = {
  createThread: Told<Threads['create']>;
  getThread: Told<Threads['get']>;
  updateThread: Told<Threads['update']>;
  listThreadSummaries: Told<Threads['list']>;
  listMessages: Told<Threads['messages']>;
  getRun: Told<Runs['get']>;
  listRuns: Told<Runs['list']>;
  listThreadRuns: Told<Runs['list']>;
  listThreadEvents: Told<Threads['events']>;
  listRunEvents: Told<Runs['events']>;
  listActors: Told<Client['actors']['list']>;
  listAuditEvents: Told<Client['audit']['list']>;
  getEvalRun: Told<Client['evals']['runs']['get']>;
  listEvalRuns: Told<Client['evals']['runs']['list']>;
};

/** What the client takes is something that the operation takes. */
type Bodies<Operations> = {
  [Name in keyof ClientBodies]: Name extends keyof Operations
    ? [Plain<ClientBodies[Name]>] extends [Plain<BodyOf<Operations[Name]>>]
      ? true
      : false
    : false;
};

type ClientBodies = {
  startRun: RunRequest;
  createThread: NonNullable<Parameters<Threads['create']>[0]>;
  updateThread: Parameters<Threads['update']>[1];
  sendMessage: Parameters<Threads['send']>[1];
  sendRunInput: Parameters<Runs['input']>[1];
};

type Wrong<Table> = { [Name in keyof Table]: Table[Name] extends true ? never : Name }[keyof Table];

/** Names of what the two do not agree on: `never`, when they agree. */
export type Disagreeing<Schemas, Operations> =
  | Wrong<Records<Schemas>>
  | Wrong<Answers<Operations>>
  | Wrong<Bodies<Operations>>;
