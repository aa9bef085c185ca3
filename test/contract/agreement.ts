import type {
  ActorFrame,
  ActorList,
  AgentStats,
  AuditEvent,
  AuditPage,
  Authorization,
  AuthorizationEnd,
  CanonicalEvent,
  Client,
  ConfigDiagnostics,
  ConfigEntryMeta,
  Connection,
  ConnectionList,
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
  Session,
  SessionList,
  StartedAuthorization,
  StreamTicket,
  SystemInfo,
  Termination,
  Thread,
  ThreadSummary,
  TraceSummary,
} from '../../src/client/index.ts';
import type { Json } from '../../src/schema/json.ts';

/**
 * Compares the types of `troupe/client` with those that a generator makes from the OpenAPI document. Both come from the
 * same schemas in two ways, and a client that differs from the document does not compile here.
 */

/** Any JSON. The client has a named type for it, the generated types do not. */
type AnyJson = { readonly anyJson: unique symbol };

/**
 * The meaning of a type regardless of its form: intersections become one object, lists are lists, any JSON is equal.
 */
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

/** Keys of all variants. An optional field that only one side has is assignable, but still a difference. */
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
  Authorization: Authorization;
  AuthorizationEnd: AuthorizationEnd;
  ConfigDiagnostics: ConfigDiagnostics;
  ConfigEntryMeta: ConfigEntryMeta;
  Connection: Connection;
  ConnectionList: ConnectionList;
  EvalFrame: EvalFrame;
  EvalRun: EvalRun;
  EvalRunAnswer: EvalRunAnswer;
  EvalRunList: EvalRunList;
  EvalRunSummary: EvalRunSummary;
  RunSummary: RunSummary;
  Session: Session;
  SessionList: SessionList;
  StartedAuthorization: StartedAuthorization;
  StreamTicket: StreamTicket;
  SystemInfo: SystemInfo;
  TraceSummary: TraceSummary;
};

/** The response type of a successful operation. */
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
type Connections = Client['connections'];
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
  listSessions: Told<Client['sessions']['list']>;
  createTicket: Told<Client['tickets']['create']>;
  listConnections: Told<Connections['list']>;
  connect: Told<Connections['connect']>;
  startAuthorization: Told<Connections['start']>;
  confirmAuthorization: Told<Connections['confirm']>;
};

/** The operation accepts every body that the client accepts. */
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
  startAuthorization: Parameters<Connections['start']>[1];
  confirmAuthorization: Parameters<Connections['confirm']>[1];
};

type Wrong<Table> = { [Name in keyof Table]: Table[Name] extends true ? never : Name }[keyof Table];

/** Names of the types that differ: `never` if there are none. */
export type Disagreeing<Schemas, Operations> =
  | Wrong<Records<Schemas>>
  | Wrong<Answers<Operations>>
  | Wrong<Bodies<Operations>>;
