import { hostOf, urlOf } from '../http/listen-address.ts';
import { createListeners, type Listeners } from '../http/listeners.ts';
import type { TlsFiles } from '../http/tls.ts';
import { chooseHttpServer } from '../http/uws.ts';
import type { AnonymousAccess } from '../identity/authenticator.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics/metrics.ts';
import type { Programs } from '../programs/programs.ts';
import { isLoopback } from '../schema/loopback.ts';
import { listenAddress, type Settings } from '../settings/index.ts';
import { anonymousAccess, isOpen, reportBoundary } from './boundary.ts';
import type { AppInput } from './input.ts';
import { createInspectionPort, type InspectionPort } from './inspection-port.ts';

/** The sockets of the process: those of clients, and the port for programs that report. */
export type Server = {
  readonly listeners: Listeners;
  readonly inspection: InspectionPort;
  readonly boundary: Boundary;
  /** Returns the URL with the port that was bound. Rejects if an address cannot be bound. */
  listen(): Promise<string>;
  /** Accepts no new connections. */
  stopListening(): void;
  /** Closes the open connections. */
  close(): void;
};

/** Which clients can connect, and where they need no credential. */
export type Boundary = {
  readonly host: string;
  readonly tls: TlsFiles | undefined;
  readonly anonymous: AnonymousAccess;
  /** Whether only clients on this host can connect. */
  readonly isLocalListener: boolean;
  /** Whether requests without a credential are accepted from anywhere. */
  readonly isOpen: boolean;
  readonly isOpenToAll: boolean;
};

type Parts = { input: AppInput; settings: Settings; log: Log; metrics: Metrics; programs: Programs };

export const createServer = ({ input, settings, log, metrics, programs }: Parts): Server => {
  const inspection = createInspectionPort({ settings, log, programs });
  const address = listenAddress(settings.http_addr);
  const host = hostOf(address);
  const tls = tlsFiles(settings);
  const isLocalListener = host === '' || isLoopback(host);
  const anonymous = anonymousAccess(settings, input);
  const isOpenToAll = anonymous === 'always' && !isLocalListener;
  const listeners = createListeners({ tls, log });
  return {
    listeners,
    inspection,
    boundary: {
      host,
      tls,
      anonymous,
      isLocalListener,
      isOpen: isOpen(anonymous, isLocalListener),
      isOpenToAll,
    },
    async listen() {
      const server = chooseHttpServer(settings.http_server, log);
      await inspection.listen(server);
      const { port } = await listeners.listen(server, address);
      if (!isLocalListener) {
        reportBoundary(settings, anonymous, log);
        if (isOpenToAll) metrics.http.openToAll();
      }
      return urlOf(tls ? 'https' : 'http', address, port);
    },
    stopListening() {
      listeners.stop();
      inspection.close();
    },
    close: listeners.close,
  };
};

const tlsFiles = ({ tls: { cert_file, key_file } }: Settings): TlsFiles | undefined =>
  cert_file !== undefined && key_file !== undefined ? { cert_file, key_file } : undefined;
