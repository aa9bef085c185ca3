import type { z } from 'zod';
import { AgUiEvent } from '../../src/protocols/ag-ui/events.ts';
import { UiMessageChunk } from '../../src/protocols/ai-sdk/chunks.ts';
import { EVENT_KINDS, runEventKinds } from '../../src/schema/event-kinds.ts';
import { RunEvent } from '../../src/schema/run-event.ts';
import { code, keysOf, outputFields, tableOf } from './fields.ts';
import type { GeneratedTable } from './generated.ts';

/** The events of streams and of the event log, from the schemas and the list of kinds. */

const PAGE = 'src/docs/reference/events.md';

/** The schemas of one kind of event each, by the field that names the kind. */
function unionMarkdown(options: readonly z.ZodObject[], tag: string): string {
  const rows = options.map((option) => {
    const fields = outputFields(option);
    const type = fields.find(({ name }) => name === tag)?.type ?? '';
    const keys = fields
      .filter(({ name }) => name !== tag)
      .map(({ name, type, isRequired }) => `${code(isRequired ? name : `${name}?`)}: ${type}`);
    return [type, keys.join('; ') || '–'];
  });
  return tableOf([code(tag), 'Keys'], rows);
}

const kindsMarkdown = (group: keyof typeof EVENT_KINDS): string =>
  tableOf(
    ['Kind', 'When', 'Payload'],
    Object.entries(EVENT_KINDS[group]).map(([kind, { when, payload }]) => [
      code(kind),
      when,
      payload.map(code).join(', '),
    ]),
  );

const runKindsMarkdown = (): string =>
  tableOf(
    ['Kind', 'When', 'Payload', 'Capture modes'],
    runEventKinds.map(([kind, { when, from, observed }]) => [
      code(kind),
      when,
      `the event ${code(from)}`,
      observed ? '`full_fidelity`' : '`compacted`, `full_fidelity`',
    ]),
  );

export const EVENT_TABLES: readonly GeneratedTable[] = [
  {
    name: 'run-events',
    page: PAGE,
    table: () => unionMarkdown(RunEvent.options, 'event_type'),
  },
  { name: 'chat-chunks', page: PAGE, table: () => unionMarkdown(UiMessageChunk.options, 'type') },
  { name: 'ag-ui-events', page: PAGE, table: () => unionMarkdown(AgUiEvent.options, 'type') },
  { name: 'kinds-run', page: PAGE, table: runKindsMarkdown },
  ...keysOf(EVENT_KINDS).map((group) => ({
    name: `kinds-${group}`,
    page: PAGE,
    table: () => kindsMarkdown(group),
  })),
];
