// Preloaded into the suite, whose mock servers would listen on every interface of the machine: keeps them on 127.0.0.1.
// The suite reads the port as soon as listen returns. A host given to listen would be looked up first, so this steps in
// where listen has its address.
'use strict';
const { Server } = require('node:net');

const listen = Server.prototype._listen2;
if (typeof listen !== 'function') throw new Error('this Node.js has another net.Server: mend internal/conformance/loopback.cjs');

Server.prototype._listen2 = function (address, port, family, backlog, fd, flags) {
  const anywhere = !address && port >= 0 && !(fd >= 0);
  return anywhere ? listen.call(this, '127.0.0.1', port, 4, backlog, fd, flags) : listen.call(this, address, port, family, backlog, fd, flags);
};
