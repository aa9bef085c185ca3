import { z } from 'zod';
import { WEATHER_QUESTION } from '../schema/demo-question.ts';
import { jsonOrUndefined } from '../schema/json-or-undefined.ts';
import { textOf } from '../schema/message.ts';
import type { ModelSpec, ProviderSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import { describeIssues, phrases } from '../schema/phrases.ts';
import type { Usage } from '../schema/run-event.ts';
import { ModelError } from './errors.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Model, Provider } from './model.ts';
import { playScript, Script } from './script.ts';
import { giveAnswer } from './scripted-answer.ts';

/**
 * A model without a network (agent-loop.md 18.5), for demos, tests and benchmarks.
 *
 * Guarantees: stateless; the same system texts and messages always produce the same completion. The first matching row
 * applies. A call that was made before gets a new id, because clients merge the arguments of calls with the same id. If
 * the provider has a script, the script replaces the rows.
 */

type Answer = { text: string } | { call: { id: string; name: string; args: unknown } };

/** The parts of a request that rows read. */
type Question = {
  /** The last message of the user. */
  user: string;
  system: readonly string[];
  /** Ids of the offered tools. */
  tools: readonly string[];
  /** The last result of a tool since that message. */
  result: string | undefined;
};

type Row = {
  when: (question: Question) => boolean;
  answer: (question: Question) => Answer;
  completionTokens: number;
};

const PROMPT_TOKENS = 10;

const mentions =
  (directive: string) =>
  ({ user }: Question) =>
    user.includes(directive);

const call = (id: string, name: string, args: unknown) => (): Answer => ({ call: { id, name, args } });

const A2UI_MESSAGES = [
  {
    surfaceUpdate: {
      surfaceId: 'demo',
      components: [
        { id: 'root', component: { Card: { child: 'text1' } } },
        { id: 'text1', component: { Text: { text: { literalString: 'Hello A2UI' } } } },
      ],
    },
  },
  {
    dataModelUpdate: {
      surfaceId: 'demo',
      path: '/',
      contents: [{ key: 'greeting', valueString: 'Hello A2UI' }],
    },
  },
  { beginRendering: { surfaceId: 'demo', root: 'root' } },
];

const openUi = ({ user }: Question): Answer => {
  const title = /weather/i.test(user) ? 'Beijing weather card' : 'Troupe assistant';
  const statements = [
    'root = Card([title, summary, actions])',
    `title = TextContent("${title}", "large-heavy")`,
    'summary = TextContent("Composed by the scripted provider", "default")',
    'actions = Buttons([refresh])',
    'refresh = Button("Refresh", "action:refresh", "primary")',
  ];
  return { text: statements.join('\n') };
};

const WEATHER_QUESTIONS: readonly string[] = Object.values(WEATHER_QUESTION);

/** The demo of a run that uses a tool and ends. */
const isWeatherQuestion = ({ user, tools }: Question): boolean =>
  WEATHER_QUESTIONS.includes(user.trim()) && tools.includes('get_weather');

const Weather = z.object({
  location: z.string(),
  condition: z.string(),
  temperature_f: z.number(),
  humidity_pct: z.number(),
});

/** A call that failed has a message instead of data. */
const weatherReport = ({ result = '' }: Question): Answer => {
  const { success, data } = Weather.safeParse(jsonOrUndefined(result));
  if (!success) return { text: `The weather is not available: ${result}` };
  const { location, condition, temperature_f, humidity_pct } = data;
  return {
    text: `It is ${condition.toLowerCase()} in ${location}: ${temperature_f} °F with ${humidity_pct} % humidity.`,
  };
};

const ROWS: readonly Row[] = [
  {
    when: ({ system }) => system.some((text) => text.includes('OpenUI Lang')),
    answer: openUi,
    completionTokens: 20,
  },
  {
    when: mentions('RUN_A2UI_TOOL'),
    answer: call('call_a2ui_1', 'render_a2ui', { messages: A2UI_MESSAGES }),
    completionTokens: 15,
  },
  {
    when: mentions('RUN_WEATHER_TOOL'),
    answer: call('call_weather_1', 'get_weather', { location: 'Tokyo' }),
    completionTokens: 5,
  },
  {
    when: mentions('RUN_STOCK_TOOL'),
    answer: call('call_stock_1', 'get_stock_price', { symbol: 'AAPL' }),
    completionTokens: 5,
  },
  {
    when: mentions('RUN_TOOL_SEARCH_WEATHER'),
    answer: call('call_tool_search_weather_1', 'ToolSearch', { query: 'select:get_weather', max_results: 5 }),
    completionTokens: 5,
  },
  {
    when: (question) => isWeatherQuestion(question) && question.result === undefined,
    answer: call('call_weather_1', 'get_weather', { location: 'Tokyo' }),
    completionTokens: 5,
  },
  { when: isWeatherQuestion, answer: weatherReport, completionTokens: 20 },
];

/** The console recognizes the offline mode by this prefix. */
const OTHERWISE: Row = {
  when: () => true,
  answer: ({ user }) => ({ text: `Scripted response to: ${firstBytes(user, 50)}` }),
  completionTokens: 20,
};

const firstBytes = (text: string, limit: number): string => {
  // A UTF-16 unit takes at least one byte, so at most `limit` of them are relevant.
  const bytes = Buffer.from(text.slice(0, limit));
  let end = Math.min(limit, bytes.length);
  while (isContinuation(bytes[end])) end -= 1;
  return bytes.toString('utf8', 0, end);
};

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

const Options = z.object({
  script: Script.optional(),
  scripts: z
    .record(z.string(), Script)
    .optional()
    .meta({ description: 'scripts by name of the upstream model; they go before `script`' }),
});

/** Throws `Invalid` that names the key of a malformed script. */
export const createScriptedProvider = ({ id, adapter_options = {} }: ProviderSpec): Provider => {
  const { script, scripts = {} } = parseOptions(adapter_options);
  const byUpstream = new Map(Object.entries(scripts));
  const scriptFor = (upstream: string): Script | undefined => byUpstream.get(upstream) ?? script;
  return { id, model: (spec) => createScriptedModel(id, spec, scriptFor) };
};

const parseOptions = (options: unknown): z.infer<typeof Options> => {
  const parsed = Options.safeParse(options, phrases);
  if (parsed.success) return parsed.data;
  throw new Invalid(describeIssues(parsed.error, ['adapter_options']));
};

const createScriptedModel = (
  provider: string,
  spec: ModelSpec,
  scriptFor: (upstream: string) => Script | undefined,
): Model => ({
  id: spec.id,
  provider,
  upstream: spec.upstream_model,
  async stream(request, sink, signal) {
    if (signal.aborted) throw new ModelError('cancelled', '');
    const script = scriptFor(request.overrides.upstream_model ?? spec.upstream_model);
    return script ? playScript(script, sink, signal) : answer(request, sink);
  },
});

const questionIn = ({ system, messages, tools }: InferenceRequest): Question => {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const result = messages.slice(at + 1).findLast(({ role }) => role === 'tool');
  return {
    user: textOf(messages[at]?.content ?? []),
    system,
    tools: tools.map(({ id }) => id),
    result: result && textOf(result.content),
  };
};

const answer = (request: InferenceRequest, sink: InferenceSink): InferenceEnd => {
  const { messages } = request;
  const question = questionIn(request);
  const row = ROWS.find(({ when }) => when(question)) ?? OTHERWISE;
  const given = row.answer(question);
  const usage = usageOf(row.completionTokens);
  if ('text' in given) return giveAnswer({ text: given.text, usage }, sink);
  const { id, name, args } = given.call;
  const call = { id: newIdOf(id, messages), tool: name, args, streamed: true };
  return giveAnswer({ calls: [call], usage }, sink);
};

/** `call_1`, then `call_1_2`, `call_1_3`: the number of earlier calls is counted in the messages. */
const newIdOf = (id: string, messages: InferenceRequest['messages']): string => {
  const earlier = messages.flatMap(({ tool_calls = [] }) =>
    tool_calls.filter((call) => call.id === id || call.id.startsWith(`${id}_`)),
  );
  return earlier.length === 0 ? id : `${id}_${earlier.length + 1}`;
};

const usageOf = (completion: number): Usage => ({
  prompt_tokens: PROMPT_TOKENS,
  completion_tokens: completion,
  total_tokens: PROMPT_TOKENS + completion,
});
