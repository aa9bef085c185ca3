/** The content of a response of the upstream, independent of the wire format. */

export type ToolCall = { id: string; name: string; fragments: readonly string[] };

export type Answer = {
  /** Chunks of reasoning before the calls. */
  reasoning: number;
  calls: readonly ToolCall[];
  /** Chunks of text. */
  tokens: number;
};

/** One event of a stream. The filler, which is computed when the event is sent, goes between head and tail. */
export type Chunk = { head: string; filler?: Filler; tail: string };

/** A token is its departure time; `text` is the concatenation of all preceding tokens. */
type Filler = 'departure' | 'text';

/**
 * `burst`: all chunks at once; `turns`: one per event-loop tick; `paced`: 50 tokens a second; `calls`: tools, at once.
 */
export type Mode = 'burst' | 'turns' | 'paced' | 'calls';

export type Script = { mode: Mode; tokens: number };

/** A request that passed the checks of its format. */
export type Asked = {
  model: string;
  /** The last message contains the results of tool calls. */
  hasResults: boolean;
  includeUsage: boolean;
};

export const PACE_MS = 20;
export const TOKENS = 200;
export const INPUT_TOKENS = 10;

/** A reasoning chunk, which is not measured and contains no time. */
export const THOUGHT = 'thought ';

const CALL_TOOLS = ['first', 'second'];
const CALL_CHUNKS = 100;

/** Parses a model id such as `burst` or `paced-400`. Returns undefined for an unknown model. */
export function parseModel(model: string): Script | undefined {
  const [, mode, tokens] = /^(burst|turns|paced|calls)(?:-(\d{1,5}))?$/.exec(model) ?? [];
  // The expression allows the four modes only.
  return mode === undefined ? undefined : { mode: mode as Mode, tokens: Number(tokens ?? TOKENS) };
}

/** The first response of `calls` has reasoning and two parallel calls, and the next one has text. */
export function answerTo({ mode, tokens }: Script, { hasResults }: Asked): Answer {
  if (mode !== 'calls') return { reasoning: 0, calls: [], tokens };
  if (hasResults) return { reasoning: 0, calls: [], tokens: CALL_CHUNKS };
  return { reasoning: CALL_CHUNKS, calls: CALL_TOOLS.map(callOf), tokens: 0 };
}

function callOf(name: string, index: number): ToolCall {
  return {
    id: `call_${'0'.repeat(22)}${index}`,
    name,
    fragments: ['{', '"', 'ro', 'und', '"', ':', '1', '2', '3', '}'],
  };
}

export function countOutput({ reasoning, calls, tokens }: Answer): number {
  return reasoning + tokens + calls.reduce((sum, { fragments }) => sum + fragments.length, 0);
}

/** Placeholders for a filler in the JSON of an event, at most one per event. */
export const DEPARTURE = '@@departure@@';
export const TEXT = '@@text@@';

export function chunkOf(frame: string): Chunk {
  for (const [mark, filler] of [
    [DEPARTURE, 'departure'],
    [TEXT, 'text'],
  ] as const) {
    const [head = '', tail] = frame.split(mark);
    if (tail !== undefined) return { head, filler, tail };
  }
  return { head: frame, tail: '' };
}
