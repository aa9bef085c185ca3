# uWebSockets.js has no binary for Node 26, so the service listens with node:http and the image leaves the package out.
FROM node:26-trixie-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf node_modules/uWebSockets.js

FROM node:26-trixie-slim
WORKDIR /srv/troupe
COPY --from=build /src/package.json /src/LICENSE ./
COPY --from=build /src/node_modules node_modules
COPY --from=build /src/dist dist
# A volume takes over the owner of the folder that it is mounted on.
RUN install -d -o node -g node -m 0700 /data
ENV NODE_ENV=production \
    SERVICE_HTTP_ADDR=0.0.0.0:38080 \
    SERVICE_STORAGE_DIR=/data
USER node
VOLUME /data
EXPOSE 38080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 \
    CMD ["node", "-e", "const port = process.env.SERVICE_HTTP_ADDR.split(':').at(-1); fetch('http://127.0.0.1:' + port + '/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Without a shell in between, so that the signal that stops it comes to the service.
ENTRYPOINT ["node", "--max-semi-space-size=64", "--min-semi-space-size=16", "dist/src/main.js"]
CMD ["serve"]
