import { toCsv } from '../../list/csv.ts';
import { type AuditEvent, summaryOf } from './audit-event.ts';

export const csvOf = (events: readonly AuditEvent[]): string =>
  toCsv([
    ['time', 'actor', 'action', 'resource', 'summary'],
    ...events.map((event) => [event.ts, event.actor, event.action, event.resource, summaryOf(event)]),
  ]);
