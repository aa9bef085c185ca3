import type { Column } from '../../list/column.ts';
import { UserLink } from './UserLink.tsx';

/** The user of a row, in the lists of several screens. */
export const userColumn = <Row extends { user: string | undefined; scope?: string | undefined }>(
  label: string,
): Column<Row> => ({
  id: 'user',
  label,
  shortened: true,
  value: ({ user }) => user ?? '',
  cell: ({ user, scope }, mark) =>
    user === undefined ? (
      '—'
    ) : (
      <UserLink id={user} scope={scope}>
        {mark(user)}
      </UserLink>
    ),
});
