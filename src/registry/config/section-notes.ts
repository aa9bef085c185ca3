import { leftOutProviderTools } from '../provider-tools.ts';
import { unknownSections } from '../sections.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Tells the log of sections that nothing reads (config.md 3.1), and of provider tools that are not offered, each once as
 * long as it is there.
 */
export type SectionNotes = {
  live(snapshot: Snapshot): void;
  /** A draft is told of whenever it is tried. */
  draft(snapshot: Snapshot): void;
};

type Warning = { resource: { id: string }; message: string };

export const createSectionNotes = (log: { warn(data: object, text: string): void }): SectionNotes => {
  let told: ReadonlySet<string> = new Set();
  const tell = ({ records, plugins, registry }: Snapshot): Set<string> => {
    const found = new Set<string>();
    const note = (warnings: readonly Warning[], text: string): void => {
      for (const { resource, message } of warnings) {
        found.add(message);
        if (!told.has(message)) log.warn({ agent_id: resource.id, problem: message }, text);
      }
    };
    note(unknownSections(records.agents, plugins), 'a section is not used');
    note(leftOutProviderTools(records, registry.hasTools), 'a provider tool is not offered');
    return found;
  };
  return {
    live(snapshot) {
      told = tell(snapshot);
    },
    draft(snapshot) {
      tell(snapshot);
    },
  };
};
