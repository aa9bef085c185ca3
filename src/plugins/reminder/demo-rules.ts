import type { Rule } from './section.ts';

/** Rules for demo agents that list the plugin without a section (agent-loop.md 18.3). */
export const DEMO_REMINDERS: readonly Rule[] = [
  {
    tool: 'get_weather',
    output: 'any',
    message: {
      target: 'system',
      content: 'Name the place whenever you report weather.',
      cooldown_turns: 5,
    },
  },
  {
    tool: 'get_stock_price',
    output: { status: 'success' },
    message: {
      target: 'suffix_system',
      content: 'Prices are examples; say that this is no financial advice.',
      cooldown_turns: 3,
    },
  },
  {
    tool: 'get_weather',
    output: { status: 'any', content: '*Sunny*' },
    message: { target: 'suffix_system', content: 'It is sunny: mention sun protection.', cooldown_turns: 3 },
  },
  {
    tool: 'append_note',
    output: { status: 'success', content: { fields: [{ path: 'status', op: 'exact', value: 'ok' }] } },
    message: {
      target: 'system',
      content: 'The note is stored; do not store it again.',
      cooldown_turns: 2,
    },
  },
];
