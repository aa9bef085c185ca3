import { LOG_EVENTS } from '../../src/schema/log-events.ts';
import { code, tableOf } from './fields.ts';

/** The events of the log as the table of their reference page. */
export const logEventsMarkdown = (): string =>
  tableOf(
    ['Event', 'Level', 'Message'],
    Object.entries(LOG_EVENTS).map(([event, { level, message }]) => [
      code(event),
      [level].flat().join(', '),
      message,
    ]),
  );
