import { createConnectionBudget } from '../http/connection-budget.ts';
import type { HttpServerChoice } from '../http/uws.ts';
import type { Log } from '../observability/log.ts';
import { LIMITS } from '../programs/limits.ts';
import { type Listener, listenForPrograms } from '../programs/listener.ts';
import type { Programs } from '../programs/programs.ts';
import { type Settings, tcpAddress } from '../settings/index.ts';

/** The port on which other programs report their actors, if the settings name one. */
export type InspectionPort = {
  /** Null while it is not open. */
  url(): string | null;
  /** @throws Unavailable when the address is not available */
  listen(server: HttpServerChoice): Promise<void>;
  close(): void;
};

export const createInspectionPort = ({
  settings: { inspection_addr },
  log,
  programs,
}: {
  settings: Settings;
  log: Log;
  programs: Programs;
}): InspectionPort => {
  let listener: Listener | undefined;
  return {
    url: () => listener?.url ?? null,
    async listen(server) {
      if (inspection_addr === undefined) return;
      const budget = createConnectionBudget(LIMITS.connections, (most) =>
        log.warn('inspection.connection_limit', { most }),
      );
      listener = await listenForPrograms(server, { programs, budget }, tcpAddress(inspection_addr));
    },
    close: () => listener?.close(),
  };
};
