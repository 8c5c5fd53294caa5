/** `spawn` that also finds scripts such as npx on Windows. The package has no types. */
declare module 'cross-spawn' {
  const spawn: typeof import('node:child_process').spawn;
  export = spawn;
}
