import { listenAddress, type Settings } from '../../settings/index.ts';

/**
 * The systemd unit of the service: a dedicated user and data directory, and otherwise only the access that the service
 * needs to open sockets and start programs.
 */

export type Unit = {
  /** Absolute path of the Node executable. */
  node: string;
  /** Absolute path of `main.js`. */
  main: string;
  settings: Pick<Settings, 'http_addr' | 'shutdown_timeout_ms'>;
  /** Variables of settings that differ from their defaults; no secrets. */
  variables: Readonly<Record<string, string>>;
};

/** Time to write and close after the time for executing runs has passed. */
const CLOSING_SECONDS = 15;

/** Ports below this one are reserved for root. */
const PRIVILEGED = 1024;

export const renderUnit = ({ node, main, settings, variables }: Unit): string => {
  const stopSeconds = Math.ceil(settings.shutdown_timeout_ms / 1000) + CLOSING_SECONDS;
  const address = listenAddress(settings.http_addr);
  const isPrivileged = 'port' in address && address.port > 0 && address.port < PRIVILEGED;
  const capability = isPrivileged ? 'CAP_NET_BIND_SERVICE' : '';
  // The file system is read-only for the unit, so systemd creates the folder of a Unix socket.
  const [, folder] = 'path' in address ? (/^\/run\/([^/]+)\//.exec(address.path) ?? []) : [];
  const runtime =
    folder === undefined ? '' : `RuntimeDirectory=${quoted(folder)}\nRuntimeDirectoryMode=0755\n`;
  const all = { ...variables, SERVICE_STORAGE_DIR: '/var/lib/troupe' };
  const environment = Object.entries(all).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`);
  return `[Unit]
Description=Troupe, an agent runtime service
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart=${command(node)} --max-semi-space-size=64 --min-semi-space-size=32 ${command(main)} serve
${environment.join('\n')}
# SERVICE_ADMIN_API_BEARER_TOKEN, SERVICE_SECRETS_KEY and the keys of providers, readable by root only. Programs of the
# same user can read them in /proc; credentials (LoadCredential=) with the variables that end in _FILE avoid that.
EnvironmentFile=-/etc/troupe.env
WorkingDirectory=/var/lib/troupe
Restart=on-failure
RestartSec=1

# A stop waits for running runs. Programs of tools and MCP servers are left to the service until then.
KillSignal=SIGTERM
KillMode=mixed
TimeoutStopSec=${stopSeconds}

# Connections, each a file.
LimitNOFILE=65536

DynamicUser=yes
StateDirectory=troupe
StateDirectoryMode=0700
${runtime}UMask=0077
AmbientCapabilities=${capability}
CapabilityBoundingSet=${capability}
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
# Not MemoryDenyWriteExecute: V8 compiles JavaScript to code while it runs.

[Install]
WantedBy=multi-user.target
`;
};

/** Quotes a word of a command, where `$` starts a variable. */
const command = (word: string): string => quoted(word.replaceAll('$', '$$$$'));

/** Quotes a word of a unit, where `%` starts a specifier. */
const quoted = (word: string): string => {
  const spelled = word.replaceAll('%', '%%');
  return /[\s"'\\]/.test(spelled) ? `"${spelled.replaceAll(/["\\]/g, '\\$&')}"` : spelled;
};
