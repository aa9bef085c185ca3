import type {
  CallToolRequest,
  CallToolResult,
  InputRequiredResult,
  Server,
  ServerContext,
  Tool,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ownPartition } from '../../identity/access/own.ts';
import { answerFiles } from '../../runtime/index.ts';
import type { AgentSpec } from '../../schema/agent.ts';
import { isObject } from '../../schema/endpoint.ts';
import type { JsonObject } from '../../schema/json.ts';
import { asObject, asObjectSchema } from '../../schema/output.ts';
import { may, type Principal } from '../../schema/principal.ts';
import type { Reading } from '../../schema/reader.ts';
import type { Run } from '../../schema/run.ts';
import { type TraceContext, traceContextOf } from '../../schema/trace-context.ts';
import {
  type AgentAnswer,
  type AgentCallDeps,
  type AgentCaller,
  callAgent,
  proceedCall,
} from './agent-call.ts';
import { contentOfFiles } from './answer-content.ts';
import {
  createQuestions,
  createUrlElicitations,
  decisionsIn,
  encodeState,
  noSuchState,
  type QuestionedRun,
  questionedBefore,
  type Shows,
  waitOf,
} from './asking.ts';
import { checkScope } from './call-scope.ts';
import { NO_RESPONSE } from './call-story.ts';
import type { McpProvider } from './provider.ts';
import type { Sdk } from './sdk.ts';
import { CLIENT_CAPABILITIES_KEY } from './versions.ts';

/** Exposes every agent as a tool (mcp.md A8, A9). */

export type AgentToolsDeps = AgentCallDeps & {
  version: string;
  /** The published agents; a new object after each publication. */
  published(): { readonly ids: readonly string[] };
  uptimeSeconds(): number;
  /** Returns an absolute link to the content of an uploaded file. */
  linkTo(file_id: string): string;
};

const NAME = 'troupe-mcp';

export const createAgentTools = (deps: AgentToolsDeps): McpProvider => {
  const tools = createToolList(deps);
  return {
    info: { name: NAME, version: deps.version },
    capabilities: { tools: { listChanged: true }, logging: {} },
    checkScope: (principal, request) => checkScope(deps, principal, request),
    readingOf: ({ method, params }) =>
      method === 'tools/call' && isObject(params) && typeof params.name === 'string'
        ? readingOfCall(params.name)
        : undefined,
    bind(server, principalOf, sdk) {
      server.setRequestHandler('tools/list', (_request, context) => {
        const principal = principalOf(context);
        return { tools: tools().filter(({ name }) => may(principal, ['invoke', name])) };
      });
      server.setRequestHandler('tools/call', ({ params }, context) => {
        const principal = principalOf(context);
        const scope = ownPartition(principal);
        return callTool(deps, { server, principal, scope, sdk, context }, params);
      });
      server.setRequestHandler('health/check', { params: z.unknown() }, () => ({
        status: 'healthy',
        uptime_seconds: deps.uptimeSeconds(),
        server_name: NAME,
        server_version: deps.version,
        tool_count: deps.published().ids.length,
      }));
    },
  };
};

/** The stream of a call ends when its caller may no longer invoke the agent. */
const readingOfCall = (agent_id: string): Reading => ({
  right: 'write',
  isAllowed: (principal) => may(principal, ['invoke', agent_id]),
});

type Asking = { server: Server; principal: Principal; scope: string; sdk: Sdk; context: ServerContext };

/** @throws ProtocolError */
const callTool = async (
  deps: AgentToolsDeps,
  asking: Asking,
  { name, arguments: { message } = {} }: CallToolRequest['params'],
): Promise<CallToolResult | InputRequiredResult> => {
  const { sdk, principal, scope, context } = asking;
  if (!deps.published().ids.includes(name) || !may(principal, ['invoke', name]))
    return textResult(`Unknown tool: ${name}`, true);
  if (typeof message !== 'string' || message === '') return textResult(NO_MESSAGE, true);
  const previous = questionedBefore(sdk, context.mcpReq.requestState());
  const answer = previous
    ? await proceed(deps, asking, { ...previous, agent_id: name })
    : await callAgent(deps, callerOf(asking), { agent_id: name, message });
  const run = answer.kind === 'asked' ? runAt(deps, scope, answer.run) : undefined;
  const shows = shownBy(asking);
  if (run && shows.urls && !isModern(asking)) await refuseForAccounts(deps, asking, run);
  const inputRequests = run && createQuestions(sdk, run, shows);
  if (!run || !inputRequests)
    return resultOf(deps, { agent_id: name, scope, takesLinks: takesLinks(asking) }, answer);
  return sdk.inputRequired({ inputRequests, requestState: encodeState(run) });
};

/**
 * Revisions with sessions report missing accounts as an error, after which the client repeats the call. Its run is
 * cancelled, because connecting would otherwise resume it in addition to the repeated one.
 *
 * @throws UrlElicitationRequiredError if the run waits for an account
 */
const refuseForAccounts = async (
  { runtime }: AgentToolsDeps,
  { sdk, scope }: Asking,
  run: Run,
): Promise<void> => {
  const elicitations = createUrlElicitations(run);
  if (elicitations.length === 0) return;
  await runtime.cancelRun(scope, run.thread_id, run.run_id);
  throw new sdk.UrlElicitationRequiredError(elicitations);
};

/** @throws ProtocolError if the agent has no such run */
const proceed = async (
  deps: AgentToolsDeps,
  asking: Asking,
  questioned: QuestionedRun & { agent_id: string },
): Promise<AgentAnswer> => {
  const { sdk, scope, context } = asking;
  const run = runAt(deps, scope, questioned);
  if (run?.agent_id !== questioned.agent_id) throw noSuchState(sdk);
  const decisions = decisionsIn(sdk, run, context.mcpReq.inputResponses);
  if (decisions.length === 0) await untilConnected(deps, asking, run);
  return proceedCall(deps, callerOf(asking), run, decisions);
};

/**
 * Waits until the run no longer waits for an account, for some time: a client may repeat its call as soon as its user
 * has opened the address, and would otherwise be asked again at once.
 */
const untilConnected = async (
  { store }: AgentToolsDeps,
  { scope, context }: Asking,
  { run_id }: Run,
): Promise<void> => {
  const { signal } = context.mcpReq;
  for (let waited = 0; waited < MOST_WAIT_MS && !signal.aborted; waited += LOOK_MS) {
    if (!store.runs.get(scope, run_id)?.waiting?.tickets?.some(waitOf)) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
};

const LOOK_MS = 250;
const MOST_WAIT_MS = 60_000;

const runAt = (
  { store }: Pick<AgentToolsDeps, 'store'>,
  scope: string,
  place: QuestionedRun | undefined,
): Run | undefined => {
  const run = place && store.runs.get(scope, place.run_id);
  return run?.thread_id === place?.thread_id ? run : undefined;
};

const NO_MESSAGE = "'message' parameter is required and must be non-empty";

type Called = { agent_id: string; scope: string; takesLinks: boolean };

/**
 * A run that continues is not reported as an error, because a client may repeat a failed call. Tools with an output
 * schema are an exception, because clients reject a successful result without an output.
 */
const resultOf = (deps: AgentToolsDeps, called: Called, answer: AgentAnswer): CallToolResult => {
  const { agent_id, scope } = called;
  const { kind, text, run, calls, sources } = answer;
  const files = filesOf(deps, called, answer);
  const meta = {
    ...(kind === 'left' && run && { 'troupe/run': { ...run, status: 'running' } }),
    ...(calls && { 'troupe/provider_calls': calls }),
    ...(sources && { 'troupe/sources': sources }),
  };
  return {
    ...textResult(text, kind === 'asked' || kind === 'failed'),
    ...(files.length > 0 && {
      content: [...(text === NO_RESPONSE ? [] : [{ type: 'text' as const, text }]), ...files],
    }),
    ...structuredResult(
      outputSchemaOf(deps, agent_id),
      kind === 'ended' ? runAt(deps, scope, run) : undefined,
    ),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
};

const filesOf = (
  { store, linkTo }: Pick<AgentToolsDeps, 'store' | 'linkTo'>,
  { scope, takesLinks }: Pick<Called, 'scope' | 'takesLinks'>,
  { kind, run }: AgentAnswer,
): CallToolResult['content'] =>
  kind === 'ended' && run
    ? contentOfFiles(answerFiles(store, scope, run), run.run_id, { linkTo, takesLinks })
    : [];

const structuredResult = (
  schema: JsonObject | undefined,
  run: Run | undefined,
): Pick<CallToolResult, 'structuredContent' | 'isError'> => {
  if (!schema) return {};
  const value = run?.structured_output;
  return value === undefined ? { isError: true } : { structuredContent: asObject(schema, value) };
};

/** Returns the schema that the tool is listed with. */
const outputSchemaOf = (
  { resolve }: Pick<AgentToolsDeps, 'resolve'>,
  agent_id: string,
): JsonObject | undefined => {
  try {
    return resolve(agent_id).spec.output_schema;
  } catch {
    // The tool is listed without a schema as well.
    return undefined;
  }
};

const textResult = (text: string, isError: boolean): CallToolResult => ({
  content: [{ type: 'text', text }],
  isError,
});

/** Returns what the client can show, as declared in each request or once per session. */
const shownBy = ({ server, context }: Asking): Shows => {
  const envelope: Readonly<Record<string, unknown>> = { ...context.mcpReq.envelope };
  const capabilities = envelope[CLIENT_CAPABILITIES_KEY] ?? server.getClientCapabilities();
  const elicitation = isObject(capabilities) ? capabilities.elicitation : undefined;
  if (!isObject(elicitation)) return { forms: false, urls: false };
  // A client that names no mode supports forms.
  const urls = elicitation.url !== undefined;
  return { forms: elicitation.form !== undefined || !urls, urls };
};

/** Links to resources are part of every revision after 2025-03-26. */
const takesLinks = (asking: Asking): boolean =>
  isModern(asking) || asking.server.getNegotiatedProtocolVersion() !== '2025-03-26';

const isModern = ({ context }: Asking): boolean => context.mcpReq.envelope !== undefined;

/** Reads the trace context from `_meta` or the headers of the request. */
const traceOf = ({ context: { mcpReq, http } }: Asking): TraceContext | undefined => {
  const meta: Readonly<Record<string, unknown>> = { ...mcpReq._meta };
  const inMeta = traceContextOf((name) => (typeof meta[name] === 'string' ? meta[name] : undefined));
  return inMeta ?? traceContextOf((name) => http?.req?.headers.get(name) ?? undefined);
};

const callerOf = (asking: Asking): AgentCaller => {
  const { principal, scope, context } = asking;
  const { mcpReq } = context;
  const token = mcpReq._meta?.progressToken;
  // Notifications for a disconnected client are dropped.
  const dropped = (): void => {};
  return {
    principal,
    scope,
    context: traceOf(asking),
    signal: mcpReq.signal,
    log: (level, text, logger) => {
      mcpReq.log(level, text, logger).catch(dropped);
    },
    progress:
      token === undefined
        ? undefined
        : (progress, message) => {
            const params = { progressToken: token, progress, message };
            mcpReq.notify({ method: 'notifications/progress', params }).catch(dropped);
          },
  };
};

/** Lists tools by name; created once per publication. */
const createToolList = ({ published, resolve }: Pick<AgentToolsDeps, 'published' | 'resolve'>) => {
  let of: object | undefined;
  let tools: Tool[] = [];
  const describe = (id: string): string => {
    try {
      return about(resolve(id).spec) || nameless(id);
    } catch {
      return nameless(id);
    }
  };
  return (): Tool[] => {
    const now = published();
    if (of !== now) {
      of = now;
      tools = [...now.ids].sort().map((id): Tool => {
        const schema = outputSchemaOf({ resolve }, id);
        return {
          name: id,
          description: describe(id),
          inputSchema: INPUT,
          // The schema has type object, as the protocol requires.
          ...(schema && { outputSchema: asObjectSchema(schema) as Tool['outputSchema'] }),
        };
      });
    }
    return tools;
  };
};

const nameless = (id: string): string => `Agent: ${id}`;

/** The system prompt is internal and is not shown. */
const about = ({ description = '' }: AgentSpec): string => shortened(description.trim());

const MOST_CHARACTERS = 200;

const shortened = (text: string): string => {
  const characters = [...text.slice(0, 2 * MOST_CHARACTERS + 2)];
  if (characters.length <= MOST_CHARACTERS) return text;
  return `${characters.slice(0, MOST_CHARACTERS).join('')}…`;
};

const INPUT: Tool['inputSchema'] = {
  type: 'object',
  properties: { message: { type: 'string', description: 'The user message to send to the agent' } },
  required: ['message'],
};
