import { z } from 'zod';
import { BY_CLIENT } from './client-tool.ts';
import { defineTool } from './define-tool.ts';
import { createProgressDemo, type Sleep, sleepFor } from './demo-progress.ts';
import { researchTools } from './demo-research.ts';
import { travelTools } from './demo-travel.ts';
import { type Tool, ToolError } from './tool.ts';

/**
 * Tools of the demo profile (agent-loop.md 18.4). They return constants and their arguments, keep no data between
 * calls, and are therefore all idempotent.
 */

const PRICES_USD: Readonly<Record<string, number>> = { AAPL: 188.42, MSFT: 421.1, NVDA: 131.75 };

const getWeather = defineTool({
  id: 'get_weather',
  name: 'Get Weather',
  description: 'Current weather of a place.',
  category: 'demo',
  idempotent: true,
  input: z.object({ location: z.string().meta({ description: 'city or place' }) }),
  execute: ({ location }) => ({
    data: { location, temperature_f: 70, condition: 'Sunny', humidity_pct: 45 },
  }),
});

const getStockPrice = defineTool({
  id: 'get_stock_price',
  name: 'Get Stock Price',
  description: 'Price of a stock in US dollars.',
  category: 'demo',
  idempotent: true,
  input: z.object({ symbol: z.string().meta({ description: 'ticker symbol' }) }),
  execute: ({ symbol }) => {
    const ticker = symbol.toUpperCase();
    return { data: { symbol: ticker, price_usd: PRICES_USD[ticker] ?? 99.99, source: 'starter-demo' } };
  },
});

const appendNote = defineTool({
  id: 'append_note',
  name: 'Append Note',
  description: 'Adds a note.',
  category: 'demo',
  idempotent: true,
  input: z.object({
    note: z
      .string()
      .trim()
      .refine((note) => note !== '', "Field 'note' cannot be empty"),
  }),
  execute: ({ note }) => ({ data: { added: note, count: 1 } }),
});

const serverInfo = defineTool({
  id: 'serverInfo',
  name: 'Server Info',
  description: 'Name of this server and its current time.',
  category: 'demo',
  idempotent: true,
  input: z.strictObject({}),
  execute: (_, { now }) => ({ data: { name: 'troupe', timestamp: Math.floor(now() / 1000) } }),
});

const failingTool = defineTool({
  id: 'failingTool',
  name: 'Failing Tool',
  description: 'Always fails; shows how errors are reported.',
  category: 'demo',
  idempotent: true,
  input: z.object({}),
  execute: () => {
    throw new ToolError('execution_failed', 'Intentional failingTool error for e2e validation');
  },
});

// The schema for the model requires `summary`, but a run must be able to finish without it.
const finish = defineTool({
  id: 'finish',
  name: 'Finish',
  description: 'Marks the task as done.',
  category: 'demo',
  idempotent: true,
  input: z.preprocess(
    (args) => (typeof args === 'object' ? { summary: 'done', ...args } : args),
    z.object({ summary: z.string() }),
  ),
  execute: ({ summary }) => ({ data: { status: 'done', summary } }),
});

const askUserQuestion = defineTool({
  id: 'askUserQuestion',
  name: 'Ask User Question',
  description: 'Asks the user a question and waits for the answer.',
  category: 'frontend',
  idempotent: true,
  needsRun: BY_CLIENT,
  input: z.object({ message: z.string().meta({ description: 'the question' }) }),
  execute: () => {
    throw new ToolError('execution_failed', "Frontend tool 'askUserQuestion' requires client execution");
  },
});

const setBackgroundColor = defineTool({
  id: 'set_background_color',
  name: 'Set Background Color',
  description: 'Lets the user choose a background color.',
  category: 'frontend',
  idempotent: true,
  needsRun: BY_CLIENT,
  input: z.object({ colors: z.array(z.string()).meta({ description: 'colors to choose from' }) }),
  execute: (args) => ({ data: args }),
});

/** All demo tools; `sleep` paces `progress_demo`. */
export const createDemoTools = ({ sleep = sleepFor }: { sleep?: Sleep } = {}): Tool[] => [
  getWeather,
  getStockPrice,
  appendNote,
  serverInfo,
  failingTool,
  finish,
  createProgressDemo(sleep),
  askUserQuestion,
  setBackgroundColor,
  ...travelTools,
  ...researchTools,
];
