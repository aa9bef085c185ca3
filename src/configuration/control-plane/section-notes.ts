import type { ServiceLog } from '../../schema/log-events.ts';
import { leftOutProviderTools } from '../provider-tools.ts';
import { unknownSections } from '../sections.ts';
import type { Snapshot } from './snapshot.ts';

/** Logs unknown sections (config.md 3.1) and omitted provider tools, each once until it is corrected. */
export type SectionNotes = {
  live(snapshot: Snapshot): void;
  /** Logs the problems of a draft each time it is tried. */
  draft(snapshot: Snapshot): void;
};

type SectionEvent = 'config.section_unused' | 'config.provider_tool_unavailable';

type Warning = { resource: { id: string }; message: string };

export const createSectionNotes = (log: Pick<ServiceLog, 'warn'>): SectionNotes => {
  let logged: ReadonlySet<string> = new Set();
  const logNew = ({ records, plugins, registry }: Snapshot): Set<string> => {
    const found = new Set<string>();
    const note = (warnings: readonly Warning[], event: SectionEvent): void => {
      for (const { resource, message } of warnings) {
        found.add(message);
        if (!logged.has(message)) log.warn(event, { agent_id: resource.id, problem: message });
      }
    };
    note(unknownSections(records.agents, plugins), 'config.section_unused');
    note(leftOutProviderTools(records, registry.hasTools), 'config.provider_tool_unavailable');
    return found;
  };
  return {
    live(snapshot) {
      logged = logNew(snapshot);
    },
    draft(snapshot) {
      logNew(snapshot);
    },
  };
};
