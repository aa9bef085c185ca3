import type { ConnectionBudget } from '../http/connection-budget.ts';
import { listenExclusively, type Served } from '../http/socket.ts';
import type { UwsApp, UwsModule, UwsResponse } from '../http/uws-module.ts';
import { admit, type Place, type Rejection, rejectPlain } from './admission.ts';
import { LIMITS } from './limits.ts';
import type { Programs } from './programs.ts';
import { IDLE_SECONDS, MOST_UNREAD_BYTES, openReport, type Report } from './report.ts';

/** The listener for programs on uWebSockets.js. */

type Reached = Place & { budget: ConnectionBudget };

type UserData = { programs: Programs; name: string; report: Report | undefined };

/** @throws Unavailable when the address is not available */
export const listenOnUws = async (
  uWS: UwsModule,
  place: Place,
  budget: ConnectionBudget,
  { host, port }: { host: string; port: number },
): Promise<{ port: number; close(): void }> => {
  const app = uWS.App();
  const served: Served<Reached> = { by: { ...place, budget } };
  routesOn(app, served);
  const socket = await listenExclusively(app, host, port, served);
  return {
    port: uWS.us_socket_local_port(socket),
    close() {
      app.close();
      served.by = undefined;
    },
  };
};

const routesOn = (app: UwsApp, served: Served<Reached>): void => {
  // uWebSockets.js calls this with 1 and -1; closing the connection calls it again, with -1.
  const count = (res: UwsResponse, change: unknown): void => {
    if (Number(change) < 0) served.by?.budget.closed();
    else if (served.by?.budget.opened() === false) res.close();
  };
  app.filter(count);
  app.ws<UserData>('/*', {
    maxPayloadLength: LIMITS.cutBytes,
    maxBackpressure: MOST_UNREAD_BYTES,
    idleTimeout: IDLE_SECONDS,
    upgrade(res, req, context) {
      const admission = admit(served.by, req, Buffer.from(res.getRemoteAddressAsText()).toString());
      if (admission.kind !== 'admitted') {
        reject(res, admission);
        return;
      }
      const { programs, name } = admission;
      const data: UserData = { programs, name, report: undefined };
      const [key, protocol, extensions] = ['key', 'protocol', 'extensions'].map((field) =>
        req.getHeader(`sec-websocket-${field}`),
      );
      res.upgrade(data, key ?? '', protocol ?? '', extensions ?? '', context);
    },
    open(socket) {
      const data = socket.getUserData();
      data.report = openReport(data.programs, data.name);
    },
    message(socket, bytes, isBinary) {
      socket.getUserData().report?.message(new Uint8Array(bytes), isBinary);
    },
    close(socket) {
      // The filter does not count connections that were upgraded to WebSockets.
      served.by?.budget.closed();
      socket.getUserData().report?.end();
    },
  });
  app.any('/*', (res, req) => reject(res, rejectPlain(req)));
};

const reject = (res: UwsResponse, rejection: Rejection): void => {
  if (rejection.kind === 'cut') {
    res.close();
    return;
  }
  res.writeStatus(rejection.status);
  for (const [name, value] of Object.entries(rejection.headers)) res.writeHeader(name, value);
  res.end(rejection.text, true);
};
