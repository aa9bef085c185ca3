import type { ReactNode } from 'react';
import { useIdentity } from '../../data/identity.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { userHref } from './user.ts';

/** A link to a user. Neither `~admin` and `~anonymous` nor users of other scopes have a page. */
export const UserLink = (props: { id: string; scope?: string | undefined; children?: ReactNode }) => {
  const { id, scope, children = id } = props;
  const own = useIdentity().data?.scope;
  const isOther = scope !== undefined && own !== undefined && scope !== own;
  if (id === '' || id.startsWith('~') || isOther) return <>{children}</>;
  return (
    <ScreenLink to={userHref(id)} title={id}>
      {children}
    </ScreenLink>
  );
};

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
