import type { ReactNode } from 'react';
import { UserLink } from './UserLink.tsx';

type Row = { user: string | undefined; scope?: string | undefined };

/** A column with the user of a row, in the lists of several screens. */
export const USER_CELL = {
  shortened: true,
  value: ({ user }: Row) => user ?? '',
  cell: ({ user, scope }: Row, mark: (text: string) => ReactNode) =>
    user === undefined ? (
      '—'
    ) : (
      <UserLink id={user} scope={scope}>
        {mark(user)}
      </UserLink>
    ),
};
