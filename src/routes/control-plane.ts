import type { Route } from '../http/route.ts';
import { assistantRoutes } from './assistant.ts';
import { auditLogRoutes } from './audit-log.ts';
import { configRoutes } from './config.ts';
import { overrideRoutes } from './config-overrides.ts';
import { configReportRoutes } from './config-reports.ts';
import { externalRoutes } from './external.ts';
import type { Rooms } from './rooms.ts';

/** The routes of the configuration, all or, where the settings do not expose them, none (config.md 1.2). */
export const controlPlaneRoutes = (rooms: Rooms): Route[] =>
  rooms.settings.AdminApiConfig.expose_config_routes
    ? [
        ...configRoutes(rooms),
        ...overrideRoutes(rooms),
        ...configReportRoutes(rooms),
        ...auditLogRoutes(rooms),
        ...externalRoutes(rooms),
        ...assistantRoutes(rooms),
      ]
    : [];
