/**
 * The lines that the service logs. A line is one JSON object with `level`, `time`, `event`, `msg` and the fields of the
 * event. `event` is stable: programs match it. `msg` is for people and may change.
 *
 * An event is named `<area>.<what happened>` in snake_case. `npm run tables` writes this table to
 * `src/docs/reference/log-events.md`.
 */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

type LogRow = { readonly level: LogLevel | readonly LogLevel[]; readonly message: string };

export const LOG_EVENTS = {
  'service.started': { level: 'info', message: 'service started' },
  'service.waiting_for_runs': { level: 'info', message: 'waiting for runs to end before stopping' },
  'service.stopped': { level: 'info', message: 'service stopped' },
  'service.stopping': { level: 'info', message: 'service is stopping' },
  'service.restart_failed': {
    level: 'error',
    message: 'could not restart the service with the previous code',
  },
  'service.stopped_early': {
    level: 'warn',
    message: 'service stopped without waiting; the next start resumes the runs',
  },
  'settings.unknown_variable': { level: 'warn', message: 'unknown environment variable' },
  'seed.model_list_unavailable': {
    level: 'warn',
    message: 'could not list models of OPENAI_BASE_URL; using the model of the previous start',
  },
  'http.request_failed': { level: 'error', message: 'request failed' },
  'http.admin_authentication_failed': { level: 'warn', message: 'admin authentication failed' },
  'http.open_to_all': {
    level: 'warn',
    message: 'every client that reaches the address may start runs without a credential',
  },
  'http.not_encrypted': {
    level: 'warn',
    message: 'requests of other hosts are not encrypted: no TLS certificate and no trusted proxy is set',
  },
  'http.short_admin_token': {
    level: 'warn',
    message: 'the admin token is short enough to be guessed; use at least 20 characters',
  },
  'cluster.misdirected': {
    level: 'warn',
    message:
      'the member that requests are forwarded to refuses them: it is not active, or the secrets or clocks of members differ',
  },
  'identity.keys_unavailable': {
    level: 'warn',
    message: 'could not fetch the keys of an issuer of access tokens; using the known ones',
  },
  'connection.unreadable': {
    level: 'warn',
    message: 'the tokens of a connection to an MCP server cannot be decrypted; the user must connect again',
  },
  'connection.not_stored': {
    level: 'error',
    message:
      'could not store the renewed tokens of a connection to an MCP server; they are kept in memory until the store accepts them',
  },
  'connection.not_revoked': {
    level: 'warn',
    message:
      'the authorization server did not confirm that it has revoked the tokens of a removed connection',
  },
  'connection.not_removed': {
    level: 'warn',
    message: 'could not remove a connection to an MCP server that has changed; it is not used',
  },
  'http.uws_unavailable': {
    level: 'info',
    message: 'uWebSockets.js cannot be loaded; using node:http, with more CPU time per run',
  },
  'http.certificate_expires': {
    level: 'warn',
    message: 'the TLS certificate has expired or expires within 14 days; replace it and restart the service',
  },
  'http.response_callback_failed': { level: 'error', message: 'response callback failed' },
  'http.connection_limit': {
    level: 'warn',
    message: 'closing new connections: the limit of open files is reached',
  },
  'http.request_ended': { level: 'debug', message: 'request ended' },
  'inspection.connection_limit': {
    level: 'warn',
    message: 'closing new inspection connections: too many are open',
  },
  'inspection.listening': { level: 'info', message: 'listening for inspection events of local programs' },
  'store.notice': { level: 'warn', message: 'storage needs attention' },
  'thread.commit_listener_failed': { level: 'error', message: 'commit listener failed' },
  'openai.cancel_failed': {
    level: 'warn',
    message: 'could not cancel the run of a client that disconnected',
  },
  'openai.transcript_failed': {
    level: 'warn',
    message: 'the position of an answer in its chat could not be stored',
  },
  'thread.expiry_failed': { level: 'warn', message: 'an expired thread could not be deleted' },
  'thread.cleanup_failed': { level: 'warn', message: 'could not remove rows of deleted threads yet' },
  'thread.start_failed': { level: 'error', message: 'could not start queued dispatches of a thread' },
  'thread.lease_failed': { level: 'warn', message: 'could not renew the lease of a thread' },
  'thread.recovery_failed': { level: 'error', message: 'could not recover a failed thread' },
  'thread.rebuilt': { level: 'warn', message: 'a commit failed; rebuilding the thread actor from the store' },
  'thread.failed': { level: 'error', message: 'thread actor failed; rebuilding it from the store' },
  'run.inference_failed': { level: 'warn', message: 'inference failed' },
  'run.step_failed': { level: 'error', message: 'run step failed' },
  'run.machine_failed': { level: 'error', message: 'run statechart failed' },
  'run.phase': { level: 'info', message: 'run phase' },
  'run.completion_cut_short': {
    level: 'warn',
    message: 'the completion ended without an end marker of the provider',
  },
  'run.part_omitted': { level: 'warn', message: 'part of a completion is omitted' },
  'run.ended': { level: 'info', message: 'run ended' },
  'run.waiting': { level: 'info', message: 'run is waiting' },
  'run.released': { level: 'info', message: 'run released' },
  'tool.schema_unusable': {
    level: 'warn',
    message: 'tool arguments are not validated: the schema is invalid',
  },
  'tool.failed': { level: 'warn', message: 'tool failed' },
  'task.event_delayed': { level: 'warn', message: 'could not store a background task event yet' },
  'subagent.cancel_failed': { level: 'warn', message: 'could not cancel a sub-agent run' },
  'subagent.sync_failed': {
    level: 'warn',
    message: 'could not synchronize a sub-agent result with the parent run',
  },
  'remote_task.orphaned': {
    level: 'warn',
    message: 'remote task is not cancelled: its agent is no longer configured',
  },
  'remote_task.cancel_failed': { level: 'warn', message: 'could not cancel a remote task; it may continue' },
  'ticket.expiry_failed': { level: 'error', message: 'could not expire a ticket; retrying' },
  'authorization.work_failed': {
    level: 'error',
    message: 'could not continue work on authorizations of users',
  },
  'ticket.resume_failed': {
    level: 'error',
    message: 'could not resume a run whose wait is over',
  },
  'recovery.dispatch_missing': {
    level: 'error',
    message: 'listed dispatch has no record; run `troupe doctor`',
  },
  'recovery.input_without_run': {
    level: 'warn',
    message: 'pending input has no dispatch and stays on its thread',
  },
  'recovery.thread_failed': { level: 'error', message: 'could not recover a thread; run `troupe doctor`' },
  'recovery.progress': { level: 'info', message: 'recovering threads of an earlier process' },
  'recovery.subagent_failed': {
    level: 'error',
    message: 'could not synchronize a sub-agent run with its parent run',
  },
  'recovery.run_ended': {
    level: 'warn',
    message: 'ended a run that was recorded as running without a dispatch',
  },
  'recovery.run_not_ended': {
    level: 'error',
    message: 'could not end a run without a dispatch; run `troupe doctor`',
  },
  'recovery.wake_failed': {
    level: 'error',
    message: 'could not resume a run that waits for background tasks',
  },
  'recovery.finished': { level: 'info', message: 'recovery finished' },
  'recovery.failed': { level: 'error', message: 'recovery failed' },
  'maintenance.failed': { level: 'warn', message: 'maintenance failed; retrying in the next round' },
  'events.stream_failed': { level: 'error', message: 'event streams failed' },
  'chat.replay_failed': { level: 'error', message: 'could not replay the response of a run' },
  'openai.leg_failed': { level: 'warn', message: 'could not store the leg of a response' },
  'openai.sweep_failed': { level: 'warn', message: 'could not remove expired responses' },
  'a2a.discovery_failed': { level: 'warn', message: 'could not discover agents of an A2A server' },
  'a2a.duplicate_agent': {
    level: 'warn',
    message: 'two A2A servers offer an agent with the same id; the first one is used',
  },
  'a2a.task_notification_failed': { level: 'error', message: 'could not notify subscribers of a task' },
  'push.enqueue_failed': { level: 'warn', message: 'could not queue a push notification' },
  'push.machine_failed': { level: 'warn', message: 'push delivery statechart failed' },
  'push.cleanup_failed': { level: 'warn', message: 'could not remove a finished push delivery' },
  'push.config_cleanup_failed': {
    level: 'warn',
    message: 'could not remove the push configuration of a deleted task',
  },
  'push.abandoned': { level: 'warn', message: 'push notification abandoned after the last attempt' },
  'mcp.tools_not_stored': { level: 'warn', message: 'could not store the tools of MCP servers' },
  'mcp.invalid_message': { level: 'debug', message: 'MCP client sent an invalid message' },
  'mcp.message_failed': { level: 'warn', message: 'could not process an MCP message' },
  'mcp.agent_call_failed': { level: 'warn', message: 'MCP call of an agent failed' },
  'mcp.cancel_failed': { level: 'warn', message: 'could not cancel the run of a cancelled MCP call' },
  'mcp.account_not_connected': { level: 'debug', message: 'could not open the connection of a user' },
  'mcp.machine_failed': { level: 'warn', message: 'MCP connection statechart failed' },
  'mcp.tools_omitted': { level: 'warn', message: 'some tools of an MCP server are not offered' },
  'mcp.server_message': { level: ['debug', 'warn'], message: 'MCP server log message' },
  'mcp.tools_not_read': { level: 'warn', message: 'could not read all tools of an MCP server' },
  'config.model_limits_not_applied': {
    level: 'warn',
    message: 'could not apply discovered model properties yet',
  },
  'config.model_lists_failed': { level: 'warn', message: 'could not read the model lists of providers' },
  'config.reload_failed': { level: 'warn', message: 'could not reload the stored configuration' },
  'config.model_list_failed': { level: 'warn', message: 'could not list the models of a provider' },
  'config.discovery_not_applied': { level: 'warn', message: 'could not apply the model list of a provider' },
  'config.entry_invalid': { level: 'warn', message: 'stored configuration entry is invalid and not used' },
  'config.section_unused': { level: 'warn', message: 'no plugin reads a section of an agent' },
  'config.provider_tool_unavailable': { level: 'warn', message: 'provider tool of an agent is not offered' },
  'config.discovered_not_published': {
    level: 'warn',
    message: 'could not publish discovered agents and tools yet',
  },
  'skill.unusable': { level: 'warn', message: 'skill is invalid and not offered' },
  'identity.use_not_written': { level: 'warn', message: 'could not write the last use of an API key' },
  'budget.warning': { level: 'warn', message: 'a share of a budget is spent' },
  'budget.exceeded': { level: 'warn', message: 'a budget is exceeded' },
  'budget.raised': { level: 'info', message: 'a decision has added to the limit of a budget' },
  'budget.resume_failed': {
    level: 'error',
    message: 'could not search for runs that wait for a budget',
  },
  'budget.sweep_failed': { level: 'warn', message: 'could not remove expired counters of budgets' },
  'files.sweep_failed': { level: 'warn', message: 'could not remove expired or deleted files' },
  'budget.commit_failed': { level: 'error', message: 'could not store what was spent' },
  'access.write_failed': { level: 'warn', message: 'could not write an access event' },
  'run.replay_failed': {
    level: 'error',
    message: 'could not stream a run again for a repeated request',
  },
  'idempotency.sweep_failed': {
    level: 'warn',
    message: 'could not remove expired idempotency keys',
  },
  'access.prune_failed': { level: 'warn', message: 'could not remove expired access events' },
  'access.admin_new_address': {
    level: 'info',
    message: 'the admin token is used from an address that has not used it for 30 days',
  },
  'audit.write_failed': { level: 'warn', message: 'could not write an audit event' },
  'audit.prune_failed': { level: 'warn', message: 'could not remove expired audit events' },
  'assistant.tool_called': { level: 'info', message: 'admin assistant calls a tool' },
  'assistant.tool_failed': { level: 'error', message: 'tool of the admin assistant failed' },
  'trace.buffer_full': {
    level: 'warn',
    message: 'trace dropped: the run has more events than the buffer holds',
  },
  'trace.write_failed': { level: 'warn', message: 'could not write trace events' },
  'trace.prune_failed': { level: 'warn', message: 'could not remove expired traces' },
  'cluster.connection_not_safe': { level: 'warn', message: 'the connection to the database is not safe' },
  'cluster.secrets_not_encrypted': {
    level: 'warn',
    message: 'SERVICE_SECRETS_KEY is not set: provider keys are stored in the database as they are',
  },
  'cluster.database_unavailable': {
    level: 'warn',
    message: 'could not connect to the database; trying again',
  },
  'cluster.joined': { level: 'info', message: 'member joined the cluster' },
  'cluster.name_taken': { level: 'warn', message: 'another live member has the same name' },
  'cluster.active': { level: 'info', message: 'member is active' },
  'cluster.took_over': { level: 'info', message: 'member took over from another one' },
  'cluster.sound': { level: 'info', message: 'the database responds to the active member again' },
  'cluster.doubtful': { level: 'warn', message: 'the database does not respond to the active member' },
  'cluster.isolated': {
    level: 'warn',
    message: 'the lease of the active member may be over; requests are rejected until the database responds',
  },
  'cluster.member_fenced': { level: 'warn', message: 'ended the membership of a silent member' },
  'cluster.fenced': {
    level: 'error',
    message: 'the membership has ended; the service ends without a write and the member joins again',
  },
  'cluster.fenced_repeatedly': {
    level: 'error',
    message: 'several memberships have ended in ten minutes; the host may be overloaded',
  },
  'cluster.behind': {
    level: 'error',
    message:
      'the database lacks an acknowledged commit of this member: it was restored or failed over with a loss',
  },
  'cluster.copy_broken': {
    level: 'error',
    message:
      'could not write a commit to the copy of the data; the member leaves the cluster and joins again',
  },
  'cluster.load_failed': {
    level: 'error',
    message: 'could not start the service on the data of the database',
  },
  'cluster.draining': { level: 'info', message: 'member is leaving the cluster' },
  'cluster.left': { level: 'info', message: 'member left the cluster' },
  'stats.write_failed': {
    level: 'warn',
    message: 'could not store agent statistics; retrying with the next bucket',
  },
  'stats.read_failed': {
    level: 'warn',
    message: 'could not read agent statistics; starting without history',
  },
  'stats.reset_failed': { level: 'warn', message: 'could not delete unreadable agent statistics' },
  'otel.configuration_invalid': {
    level: 'warn',
    message: 'OpenTelemetry export is off: its configuration is invalid',
  },
  'eval.event_write_failed': { level: 'warn', message: 'could not write an event of an eval run' },
  'eval.machine_failed': { level: 'error', message: 'eval run statechart failed' },
  'eval.run_failed': { level: 'warn', message: 'eval run failed' },
  'eval.record_unreadable': {
    level: 'warn',
    message: 'stored eval run cannot be read and is omitted from a list',
  },
  'eval.recovery_failed': { level: 'error', message: 'could not resume an eval run' },
  'eval.trace_write_failed': { level: 'warn', message: 'could not write the trace of an eval replay' },
} as const satisfies Record<string, LogRow>;

type LogEvents = typeof LOG_EVENTS;

type LevelOf<Row extends LogRow> = Row['level'] extends readonly (infer Level)[] ? Level : Row['level'];

/** The events of a level. */
export type LogEvent<Level extends LogLevel = LogLevel> = {
  [Event in keyof LogEvents]: Level extends LevelOf<LogEvents[Event]> ? Event : never;
}[keyof LogEvents];

/** Writes one line per call. A call names an event of its level. */
export type ServiceLog = {
  readonly [Level in LogLevel]: (event: LogEvent<Level>, fields?: object) => void;
};
