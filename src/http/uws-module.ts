import type { WireRequest, WireResponse } from './wire.ts';

/**
 * The part of the API of uWebSockets.js that is used. The package is an optional dependency, so neither the sources nor
 * the published types may depend on its types.
 */
export type UwsModule = {
  App(): UwsApp;
  /** TLS 1.2 and newer. @throws Error when the files cannot be used */
  SSLApp(options: { cert_file_name: string; key_file_name: string }): UwsApp;
  us_socket_local_port(socket: UwsListenSocket): number;
  us_listen_socket_close(socket: UwsListenSocket): void;
};

declare const listenSocket: unique symbol;

export type UwsListenSocket = { readonly [listenSocket]: true };

type Listened = (socket: UwsListenSocket | false) => void;

export type UwsApp = {
  any(pattern: string, handler: (res: UwsResponse, req: UwsRequest) => void): UwsApp;
  post(pattern: string, handler: (res: UwsResponse, req: UwsRequest) => void): UwsApp;
  ws<UserData>(pattern: string, behavior: UwsWebSocketBehavior<UserData>): UwsApp;
  /** The handler receives 1 when a connection is opened and -1 when it is closed. */
  filter(handler: (res: UwsResponse, change: unknown) => void): UwsApp;
  /** @param options a set of `LIBUS_LISTEN_` flags */
  listen(host: string, port: number, options: number, done: Listened): UwsApp;
  listen_unix(done: Listened, path: string): UwsApp;
  close(): UwsApp;
};

export type UwsRequest = WireRequest & { getParameter(index: number): string | undefined };

export type UwsResponse = WireResponse & {
  upgrade<UserData>(
    data: UserData,
    key: string,
    protocol: string,
    extensions: string,
    context: UwsUpgradeContext,
  ): void;
};

declare const upgradeContext: unique symbol;

type UwsUpgradeContext = { readonly [upgradeContext]: true };

type UwsWebSocket<UserData> = { getUserData(): UserData };

type UwsWebSocketBehavior<UserData> = {
  maxPayloadLength: number;
  maxBackpressure: number;
  idleTimeout: number;
  upgrade(res: UwsResponse, req: UwsRequest, context: UwsUpgradeContext): void;
  open(socket: UwsWebSocket<UserData>): void;
  message(socket: UwsWebSocket<UserData>, bytes: ArrayBuffer, isBinary: boolean): void;
  close(socket: UwsWebSocket<UserData>): void;
};
