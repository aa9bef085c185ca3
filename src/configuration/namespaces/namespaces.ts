import { hintOf } from '../../schema/nearest.ts';
import { NotFound } from '../../schema/outcome.ts';
import { a2aServersNamespace } from './a2a-servers.ts';
import { createAgentsNamespace } from './agents.ts';
import { budgetsNamespace } from './budgets.ts';
import { createMcpServersNamespace, type MissingForUsers } from './mcp-servers.ts';
import { modelPoolsNamespace } from './model-pools.ts';
import { modelsNamespace } from './models.ts';
import { invalidPayload, type Namespace } from './namespace.ts';
import { providersNamespace } from './providers.ts';
import { skillsNamespace } from './skills.ts';
import { toolsNamespace } from './tools.ts';

export type Namespaces = {
  /** Ordered as in config.md 2.1. */
  readonly all: readonly Namespace[];
  /** @throws NotFound `unknown namespace: <name>` */
  of(name: string): Namespace;
};

/** @param localKind public name of the local backend of agents */
export const createNamespaces = ({
  localKind,
  missingForUsers,
}: {
  localKind?: string;
  missingForUsers?: MissingForUsers;
} = {}): Namespaces => {
  const all = [
    createAgentsNamespace(localKind),
    modelsNamespace,
    modelPoolsNamespace,
    providersNamespace,
    createMcpServersNamespace(missingForUsers),
    skillsNamespace,
    toolsNamespace,
    a2aServersNamespace,
    budgetsNamespace,
  ];
  const byName = new Map<string, Namespace>(all.map((namespace) => [namespace.name, namespace]));
  return {
    all,
    of: (name) => {
      const namespace = byName.get(name);
      if (!namespace)
        throw new NotFound(`unknown namespace: ${name}${hintOf(name, 'namespaces', [...byName.keys()])}`);
      return namespace;
    },
  };
};

/** Runs before all other checks of POST, PUT, DELETE, validate and restore. @throws Invalid */
export const refuseReadOnly = ({ name, writable }: Namespace): void => {
  if (writable) return;
  throw invalidPayload(`${name} namespace is read-only; use PATCH /v1/config/${name}/:id/overrides`);
};
