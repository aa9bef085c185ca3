import type { Route } from '../http/route.ts';
import { assistantRoutes } from './assistant.ts';
import { auditLogRoutes } from './audit-log.ts';
import { configRoutes } from './config.ts';
import { overrideRoutes } from './config-overrides.ts';
import { configReportRoutes } from './config-reports.ts';
import { versionRoutes } from './config-versions.ts';
import { externalRoutes } from './external.ts';
import type { RouteDeps } from './route-deps.ts';
import { toolRoutes } from './tools.ts';

/** Returns the configuration routes, or none if the settings do not expose them (config.md 1.2). */
export const controlPlaneRoutes = (deps: RouteDeps): Route[] =>
  deps.settings.AdminApiConfig.expose_config_routes
    ? [
        ...configRoutes(deps),
        ...overrideRoutes(deps),
        ...versionRoutes(deps),
        ...configReportRoutes(deps),
        ...auditLogRoutes(deps),
        ...toolRoutes(deps),
        ...externalRoutes(deps),
        ...assistantRoutes(deps),
      ]
    : [];
