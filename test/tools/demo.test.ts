import t from 'tap';
import { createDemoTools } from '../../src/tools/demo.ts';
import type { Json, Tool, ToolProgress } from '../../src/tools/tool.ts';
import { callTool } from './call.ts';

const slept: number[] = [];
const tools = createDemoTools({
  sleep: async (ms, signal) => {
    slept.push(ms);
    signal.throwIfAborted();
  },
});

const demo = (id: string): Tool => {
  const tool = tools.find(({ descriptor }) => descriptor.id === id);
  if (!tool) throw new Error(`no demo tool ${id}`);
  return tool;
};

t.test('provides the nineteen tools of the demo profile', async (t) => {
  t.same(tools.map(({ descriptor }) => descriptor.id).sort(), [
    'add_trips',
    'append_note',
    'askUserQuestion',
    'delete_resources',
    'delete_trips',
    'extract_resources',
    'failingTool',
    'finish',
    'get_stock_price',
    'get_weather',
    'progress_demo',
    'search',
    'search_for_places',
    'select_trip',
    'serverInfo',
    'set_background_color',
    'set_research_question',
    'update_trips',
    'write_report',
  ]);
});

const successes: [id: string, args: Json, data: Json][] = [
  [
    'get_weather',
    { location: 'Tokyo' },
    { location: 'Tokyo', temperature_f: 70, condition: 'Sunny', humidity_pct: 45 },
  ],
  ['get_stock_price', { symbol: 'aapl' }, { symbol: 'AAPL', price_usd: 188.42, source: 'starter-demo' }],
  ['get_stock_price', { symbol: 'MSFT' }, { symbol: 'MSFT', price_usd: 421.1, source: 'starter-demo' }],
  ['get_stock_price', { symbol: 'NVDA' }, { symbol: 'NVDA', price_usd: 131.75, source: 'starter-demo' }],
  [
    'get_stock_price',
    { symbol: 'toString' },
    { symbol: 'TOSTRING', price_usd: 99.99, source: 'starter-demo' },
  ],
  ['append_note', { note: '  milk ' }, { added: 'milk', count: 1 }],
  ['serverInfo', null, { name: 'troupe', timestamp: 10 }],
  ['finish', { summary: 'all good' }, { status: 'done', summary: 'all good' }],
  ['finish', {}, { status: 'done', summary: 'done' }],
  ['set_background_color', { colors: ['red', 'blue'] }, { colors: ['red', 'blue'] }],
  [
    'add_trips',
    { trips: [{ id: '1', name: 'n', destination: 'Oslo', places: [{ a: 1 }] }] },
    { added: 1, total: 1 },
  ],
  ['update_trips', { trips: [{ id: '1' }, { id: '2', name: 'n' }] }, { updated: 2 }],
  ['delete_trips', { trip_ids: ['1', '2'] }, { deleted: 2 }],
  ['select_trip', { trip_id: '1' }, { selected: '1' }],
  ['write_report', { report: 'é' }, { length: 2 }],
  ['set_research_question', { question: 'why?' }, { question: 'why?' }],
  ['delete_resources', { resource_ids: ['a'] }, { deleted: 1 }],
  [
    'extract_resources',
    { resources: [{ id: '1', url: 'u', title: 't', description: 'd' }] },
    { added: 1, total: 1 },
  ],
];
for (const [id, args, data] of successes) {
  t.test(`${id} returns ${JSON.stringify(args)}`, async (t) => {
    t.same(await callTool(demo(id), args), { tool_name: id, status: 'success', data, message: null });
  });
}

const failures: [id: string, args: Json, message: string][] = [
  ['get_weather', {}, "Invalid arguments: Missing 'location'"],
  ['get_stock_price', {}, "Invalid arguments: Missing 'symbol'"],
  ['append_note', {}, "Invalid arguments: Missing 'note'"],
  ['append_note', { note: '  ' }, "Invalid arguments: Field 'note' cannot be empty"],
  ['serverInfo', { verbose: true }, 'Invalid arguments: Unrecognized key: "verbose"'],
  ['failingTool', {}, 'Execution failed: Intentional failingTool error for e2e validation'],
  ['finish', { summary: 5 }, "Invalid arguments: 'summary': Invalid input: expected string, received number"],
  ['askUserQuestion', {}, "Invalid arguments: Missing 'message'"],
  [
    'askUserQuestion',
    { message: 'really?' },
    "Execution failed: Frontend tool 'askUserQuestion' requires client execution",
  ],
  ['set_background_color', {}, "Invalid arguments: Missing 'colors'"],
  [
    'add_trips',
    { trips: [{ id: '1' }] },
    "Invalid arguments: Missing 'trips[0].name'; Missing 'trips[0].destination'",
  ],
  ['update_trips', { trips: [{}] }, "Invalid arguments: Missing 'trips[0].id'"],
  ['delete_trips', {}, "Invalid arguments: Missing 'trip_ids'"],
  ['select_trip', {}, "Invalid arguments: Missing 'trip_id'"],
  ['search_for_places', { destination: 'Oslo' }, "Invalid arguments: Missing 'trip_id'"],
  ['search', {}, "Invalid arguments: Missing 'query'"],
  ['write_report', {}, "Invalid arguments: Missing 'report'"],
  ['set_research_question', {}, "Invalid arguments: Missing 'question'"],
  ['delete_resources', {}, "Invalid arguments: Missing 'resource_ids'"],
  [
    'extract_resources',
    { resources: [{ id: '1', url: 'u', title: 't' }] },
    "Invalid arguments: Missing 'resources[0].description'",
  ],
  [
    'progress_demo',
    { scenario: 'nope' },
    `Invalid arguments: 'scenario': Invalid option: expected one of "default"|"data_pipeline"|"deploy"|"slow_build"|"multi_phase"`,
  ],
];
for (const [id, args, message] of failures) {
  t.test(`${id} rejects ${JSON.stringify(args)}`, async (t) => {
    t.same(await callTool(demo(id), args), { tool_name: id, status: 'error', data: null, message });
  });
}

t.test('declares the summary of finish as required', async (t) => {
  t.same(demo('finish').descriptor.parameters.required, ['summary']);
});

t.test('accepts no properties in serverInfo', async (t) => {
  t.match(demo('serverInfo').descriptor.parameters, { type: 'object', additionalProperties: false });
});

t.test('finds three results in search', async (t) => {
  const { data } = await callTool(demo('search'), { query: 'a b' });
  t.match(data, { query: 'a b', results: [{ id: 'result-1', url: 'https://example.com/1?q=a+b' }, {}, {}] });
});

const destinations: [destination: string, names: string[]][] = [
  ['Paris', ['Eiffel Tower', 'Louvre Museum', 'Notre-Dame Cathedral']],
  ['tokyo, Japan', ['Senso-ji Temple', 'Shibuya Crossing']],
  ['Oslo', ['Central Oslo']],
];
for (const [destination, names] of destinations) {
  t.test(`search_for_places returns ${names.length} places in ${destination}`, async (t) => {
    const { data } = await callTool(demo('search_for_places'), { destination, trip_id: '1' });
    t.match(data, {
      destination,
      category: 'attraction',
      places_found: names.length,
      places: names.map((name) => ({
        name,
        category: 'attraction',
        id: String,
        address: String,
        lat: Number,
      })),
    });
  });
}

type Expected = { args: Json; count: number; everyMs: number; first: 'pending' | 'running'; data: Json };
const scenarios: Expected[] = [
  {
    args: {},
    count: 11,
    everyMs: 500,
    first: 'pending',
    data: { scenario: 'default', status: 'ok', steps: 10 },
  },
  {
    args: { scenario: 'data_pipeline' },
    count: 14,
    everyMs: 600,
    first: 'running',
    data: { scenario: 'data_pipeline', status: 'ok', records_processed: 500 },
  },
  {
    args: { scenario: 'deploy' },
    count: 11,
    everyMs: 800,
    first: 'pending',
    data: { scenario: 'deploy', status: 'ok', version: 'v2.4.1', pods: 3 },
  },
  {
    args: { scenario: 'slow_build' },
    count: 21,
    everyMs: 400,
    first: 'pending',
    data: { scenario: 'slow_build', status: 'ok', modules: 20 },
  },
  {
    args: { scenario: 'multi_phase' },
    count: 13,
    everyMs: 500,
    first: 'running',
    data: { scenario: 'multi_phase', status: 'ok', phases: 3 },
  },
];
for (const { args, count, everyMs, first, data } of scenarios) {
  t.test(`progress_demo ${JSON.stringify(args)} reports ${count} times from 0 to 1`, async (t) => {
    slept.length = 0;
    const updates: ToolProgress[] = [];
    const result = await callTool(demo('progress_demo'), args, {
      progress: (update) => updates.push(update),
    });
    t.same(result.data, data);
    t.equal(updates.length, count);
    t.match(updates[0], { status: first, progress: 0 });
    t.match(updates.at(-1), { status: 'done', progress: 1 });
    t.ok(updates.slice(1, -1).every(({ status }) => status === 'running'));
    t.same(
      slept,
      Array.from({ length: count - 1 }, () => everyMs),
    );
  });
}

t.test('names the current step in progress_demo', async (t) => {
  const messages: (string | undefined)[] = [];
  await callTool(demo('progress_demo'), {}, { progress: ({ message }) => messages.push(message) });
  t.equal(messages[4], 'Processing step 4/10...');
  messages.length = 0;
  const phases = { progress: ({ message }: ToolProgress) => messages.push(message) };
  await callTool(demo('progress_demo'), { scenario: 'multi_phase' }, phases);
  t.same(
    [0, 1, 4, 5, 8, 9].map((step) => messages[step]),
    [1, 1, 1, 2, 2, 3].map((phase, at) => `Phase ${phase}/3: ${[0, 1, 4, 5, 8, 9][at]}/12 steps`),
  );
});

t.test('stops progress_demo when its run is cancelled', async (t) => {
  const abort = new AbortController();
  const updates: ToolProgress[] = [];
  const result = await callTool(
    createDemoTools().find(({ descriptor }) => descriptor.id === 'progress_demo') ?? demo('progress_demo'),
    {},
    {
      signal: abort.signal,
      progress: (update) => {
        updates.push(update);
        abort.abort();
      },
    },
  );
  t.equal(result.message, 'Cancelled: progress_demo was stopped');
  t.equal(updates.length, 1);
});
