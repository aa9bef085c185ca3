import { boolean, origins, text, url } from '../kinds.ts';
import { setting } from '../setting.ts';

export const adminSettings = [
  setting({
    key: 'AdminApiConfig.bearer_token',
    env: 'SERVICE_ADMIN_API_BEARER_TOKEN',
    type: text(),
    secret: true,
    doc: 'admin token; required while any of the three route groups below is exposed',
  }),
  setting({
    key: 'AdminApiConfig.cors_allowed_origins',
    env: 'SERVICE_ADMIN_CORS_ALLOWED_ORIGINS',
    type: origins(),
    default: ['http://127.0.0.1:3002', 'http://localhost:3002'],
    doc: 'origins that CORS allows, on all routes; `loopback` allows loopback origins with any port, the default of `troupe dev`',
  }),
  setting({
    key: 'AdminApiConfig.expose_config_routes',
    env: 'SERVICE_EXPOSE_CONFIG_ROUTES',
    type: boolean(),
    default: true,
    doc: 'serve the config and capabilities routes',
  }),
  setting({
    key: 'AdminApiConfig.expose_eval_routes',
    env: 'SERVICE_EXPOSE_EVAL_ROUTES',
    type: boolean(),
    default: true,
    doc: 'serve the eval routes',
  }),
  setting({
    key: 'AdminApiConfig.expose_trace_routes',
    env: 'SERVICE_EXPOSE_TRACE_ROUTES',
    type: boolean(),
    default: false,
    doc: 'serve the trace routes; traces may hold prompts and arguments of tools',
  }),
  setting({
    key: 'console.enabled',
    env: 'SERVICE_CONSOLE_ENABLED',
    type: boolean(),
    default: true,
    doc: 'serve the browser console at `/`',
  }),
  setting({
    key: 'console.backend_url',
    env: 'SERVICE_CONSOLE_BACKEND_URL',
    type: url(),
    doc: 'URL of the service that the console uses; unset = the service that serves the console',
  }),
  setting({
    key: 'console.title',
    env: 'SERVICE_CONSOLE_TITLE',
    type: text(),
    doc: 'name of the service in the console, such as `Production`',
  }),
] as const;
